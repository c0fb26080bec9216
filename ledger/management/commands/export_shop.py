"""manage.py export_shop [--customer ID] [--order ID]."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction

from ledger.access.staff import as_staff
from ledger.files.export import UnknownRow, export_lines


class Command(BaseCommand):
    """Print the shop as JSON lines, as of one moment."""

    help = "Print the shop's customers, products and orders as JSON lines."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--customer", metavar="ID", help="this customer and their orders only")
        parser.add_argument("--order", metavar="ID", help="this order only")

    def handle(self, *args: Any, customer: str | None, order: str | None, **options: Any) -> None:
        def write() -> None:
            for line in export_lines(customer, order):
                self.stdout.write(json.dumps(line, ensure_ascii=False, sort_keys=True))

        try:
            with transaction.atomic():
                _as_of_now()
                as_staff(write)
        except UnknownRow as error:
            raise CommandError(str(error)) from error


def _as_of_now() -> None:
    # One snapshot, or an order could show a refund that its customer's gift card does not show yet.
    with connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
