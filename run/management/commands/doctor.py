"""`manage.py doctor`: proves the books, and that the database still holds the rules that its files say."""

from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from approvals import doctor as requests_doctor
from base import parked
from ledger.books import doctor as books_doctor
from ledger.books.doctor import MOST_SHOWN
from run import catalogue

_CATALOGUE = "functions, triggers, row-level security and grants are as their files say"


class Command(BaseCommand):
    help = (
        "Prove the books: transfers, holds, orders, requests and payouts agree. As the owner (DATABASE_OWNER_URL), "
        "prove too that the rules in the database are as their files say. Exit code 1 when they are not."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Prove each rule and tell in a line."""
        broken = sum(
            self._tell(name, contradictions)
            for name, contradictions in (*books_doctor.prove(), *requests_doctor.prove())
        )
        broken += self._prove_catalogue()
        for name, many, oldest in parked.sums():
            since = f"{oldest:%Y-%m-%dT%H:%M:%SZ}"
            self.stdout.write(f"PARKED  {name}: {many}, the oldest since {since}; see `manage.py work list`")
        if broken:
            raise CommandError(f"{broken} of the rules are broken; nothing was changed.")

    def _tell(self, name: str, contradictions: list[str]) -> bool:
        self.stdout.write(f"{'BROKEN' if contradictions else 'holds '}  {name}")
        for sentence in contradictions[:MOST_SHOWN]:
            self.stdout.write(f"        {sentence}")
        if len(contradictions) > MOST_SHOWN:
            self.stdout.write("        and more")
        return bool(contradictions)

    def _prove_catalogue(self) -> bool:
        if settings.ENV.database_owner_url is None:
            self.stdout.write(f"unseen  {_CATALOGUE} (needs DATABASE_OWNER_URL)")
            return False
        with psycopg.connect(settings.ENV.database_owner_url, autocommit=True) as owner:
            return self._tell(_CATALOGUE, catalogue.drift(owner))
