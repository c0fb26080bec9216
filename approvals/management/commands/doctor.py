"""`manage.py doctor`: proves the books."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from approvals import doctor as requests_doctor
from ledger.books import doctor as books_doctor
from ledger.books.doctor import MOST_SHOWN


class Command(BaseCommand):
    help = "Prove the books: transfers, holds, orders, requests and payouts agree. Exit code 1 when they do not."

    def handle(self, *args: Any, **options: Any) -> None:
        broken = 0
        for name, contradictions in (*books_doctor.prove(), *requests_doctor.prove()):
            self.stdout.write(f"{'BROKEN' if contradictions else 'holds '}  {name}")
            for sentence in contradictions[:MOST_SHOWN]:
                self.stdout.write(f"        {sentence}")
            if len(contradictions) > MOST_SHOWN:
                self.stdout.write("        and more")
            broken += bool(contradictions)
        if broken:
            raise CommandError(f"{broken} of the books' rules are broken; nothing was changed.")
