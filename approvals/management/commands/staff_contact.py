"""manage.py staff_contact NAME [--email ADDRESS] [--phone NUMBER]."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from approvals.people.accounts import AccountError, set_contact


class Command(BaseCommand):
    """Set how a member of staff is reached."""

    help = "Set where a member of staff is told of what waits; an empty value takes it away."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--email", metavar="ADDRESS")
        parser.add_argument("--phone", metavar="NUMBER")

    def handle(self, *args: Any, name: str, email: str | None, phone: str | None, **options: Any) -> None:
        try:
            staff = set_contact(name, email=email, phone=phone)
        except AccountError as error:
            raise CommandError(str(error)) from error
        reached = [text for text in (staff.email, staff.phone) if text]
        self.stdout.write(f"{staff.username}: {', '.join(reached) or 'no contact'}.")
