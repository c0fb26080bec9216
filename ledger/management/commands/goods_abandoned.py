"""manage.py goods_abandoned ORDER."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ledger.shop.goods import NothingOpen, end_goods


class Command(BaseCommand):
    """The goods of a return or exchange will not come: what was held is given back."""

    help = "The goods of a return or exchange will not come: what was held is given back."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("order", metavar="ORDER", help="the order's number")

    def handle(self, *args: Any, order: str, **options: Any) -> None:
        try:
            posted = end_goods(order, "goods_abandoned")
        except NothingOpen as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{posted.done} Reference {posted.reference}.")
