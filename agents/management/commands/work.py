"""`manage.py work list|retry`: background work that was given up, and trying it again."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents import work_lists
from agents.work_lists import CannotRetry


class Command(BaseCommand):
    help = "List what background work was parked after its last attempt; try it again."

    def add_arguments(self, parser: CommandParser) -> None:
        deeds = parser.add_subparsers(dest="deed", required=True)
        deeds.add_parser("list", help="what is parked, oldest first")
        retried = deeds.add_parser("retry", help="try one again, all of a list, or all")
        retried.add_argument("list", nargs="?", choices=sorted(work_lists.LISTS), metavar="LIST")
        retried.add_argument("key", nargs="?", metavar="KEY")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["deed"] == "list":
            self._list()
        elif options["key"]:
            self._retry([(options["list"], options["key"])])
        else:
            found = [(item.list, item.key) for item in work_lists.waiting()]
            self._retry([each for each in found if options["list"] in (None, each[0])])

    def _list(self) -> None:
        rows = work_lists.waiting()
        for item in rows:
            self.stdout.write(f"{item.list} '{item.key}' since {item.parked_at:%Y-%m-%dT%H:%M:%SZ}: {item.parked_why}")
        if not rows:
            self.stdout.write("Nothing is parked.")

    def _retry(self, which: list[tuple[str, str]]) -> None:
        refused = 0
        for name, key in which:
            try:
                work_lists.retry(name, key)
                self.stdout.write(f"{name} {key} is tried again.")
            except CannotRetry as refusal:
                self.stderr.write(str(refusal))
                refused += 1
        if refused:
            raise CommandError(f"{refused} of {len(which)} were not tried again.")
