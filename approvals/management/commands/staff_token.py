"""manage.py staff_token NAME."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from approvals.people.accounts import AccountError, mint_staff_token


class Command(BaseCommand):
    """Print a token for the staff API."""

    help = "Print a bearer token for the staff API that lives twelve hours."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME")

    def handle(self, *args: Any, name: str, **options: Any) -> None:
        try:
            self.stdout.write(mint_staff_token(name))
        except AccountError as error:
            raise CommandError(str(error)) from error
