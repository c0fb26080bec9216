"""manage.py create_staff NAME --role ROLE [--customer ID] [--email ADDRESS] [--phone NUMBER] --password-stdin."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from approvals.people.accounts import AccountError, create_staff
from base.access import ROLES


class Command(BaseCommand):
    """Make an account for a member of staff."""

    help = "Make an account for a member of staff; the password is read from standard input."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--role", required=True, choices=ROLES)
        parser.add_argument("--customer", default="", metavar="ID", help="this person is that customer")
        parser.add_argument("--email", default="", metavar="ADDRESS", help="where they are told of what waits")
        parser.add_argument("--phone", default="", metavar="NUMBER", help="such as +44 20 7946 0958")
        # An argument could be read by every user of the machine.
        parser.add_argument("--password-stdin", action="store_true", required=True)

    def handle(self, *args: Any, name: str, role: str, customer: str, email: str, phone: str, **options: Any) -> None:
        try:
            password = sys.stdin.readline().rstrip("\r\n")
            staff = create_staff(name, role, password, customer, email=email, phone=phone)
        except UnicodeDecodeError as error:
            raise CommandError("The password on standard input is not UTF-8.") from error
        except AccountError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{staff.username} may sign in as {role}.")
