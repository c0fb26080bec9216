"""manage.py widget_token CUSTOMER_ID [--ttl SECONDS]."""

import secrets
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.chat.tokens import LONGEST_SECONDS, is_customer, mint_widget_token


class Command(BaseCommand):
    """Print a chat token, as the shop's backend would give it to the widget."""

    help = "Print a chat token for a customer, with a session of its own."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("customer_id", metavar="CUSTOMER_ID")
        parser.add_argument("--ttl", type=int, default=LONGEST_SECONDS, metavar="SECONDS", help="1 to 3600")

    def handle(self, *args: Any, customer_id: str, ttl: int, **options: Any) -> None:
        if not is_customer(customer_id):
            raise CommandError(f"There is no customer {customer_id!r} who may chat.")
        try:
            self.stdout.write(mint_widget_token(customer_id, f"command-{secrets.token_hex(8)}", ttl))
        except ValueError as error:
            raise CommandError(str(error)) from error
