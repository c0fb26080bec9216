"""manage.py verify_signatures [REFERENCE]."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from approvals.decisions.signatures import complaint_about
from approvals.models import Signature


class Command(BaseCommand):
    """Check what passkeys signed, from the kept evidence alone."""

    help = "Check the kept signatures of passkeys against what was decided: all, or those of one request."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("reference", metavar="REFERENCE", nargs="?", default="")

    def handle(self, *args: Any, reference: str, **options: Any) -> None:
        found = Signature.objects.select_related("decision__staff").order_by("decision_id")
        if reference:
            found = found.filter(decision__request_id=reference)
        count, bad = 0, []
        for count, kept in enumerate(found.iterator(chunk_size=500), 1):  # noqa: B007 - the last number is the count
            if complaint := complaint_about(kept):
                bad.append(f"{kept.decision.request_id}, by {kept.decision.staff.username}: {complaint}")
        if bad:
            raise CommandError("\n".join(bad))
        self.stdout.write(f"{count} signatures, and each fits what was decided.")
