"""`manage.py turns list|retry|end`: turns that run, wait or were parked, with their story."""

import uuid
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents.models import Turn
from agents.turns.steering import CannotSteer, end_turn, retry_turn, troubled


class Command(BaseCommand):
    help = "List the turns that run, wait or failed; try a failed one again; end one."

    def add_arguments(self, parser: CommandParser) -> None:
        deeds = parser.add_subparsers(dest="deed", required=True)
        deeds.add_parser("list", help="running, queued and, of the last day, parked and failed turns")
        for deed, text in (("retry", "run a parked or failed turn again"), ("end", "end a turn that is not finished")):
            parsed = deeds.add_parser(deed, help=text)
            parsed.add_argument("turn", metavar="TURN_ID")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["deed"] == "list":
            self._list()
            return
        try:
            turn_id = uuid.UUID(options["turn"])
            made = retry_turn(turn_id) if options["deed"] == "retry" else end_turn(turn_id)
        except ValueError as exc:
            raise CommandError(f"{options['turn']!r} is no turn's id; `turns list` shows them.") from exc
        except CannotSteer as exc:
            raise CommandError(str(exc)) from exc
        self.stdout.write(f"{made.pk} {made.state} {made.reason}".rstrip())

    def _list(self) -> None:
        rows = list(troubled())
        for turn in rows:
            self.stdout.write(_line(turn))
        if not rows:
            self.stdout.write("No turn runs, waits or failed in the last day.")


def _line(turn: Turn) -> str:
    state = turn.reason or turn.state
    owner = turn.owner or "nobody"
    return (
        f"{turn.pk} {state} customer={turn.customer_id} steps={turn.steps} claims={turn.attempts} "
        f"waits={turn.waits} owner={owner} since={turn.created_at:%Y-%m-%dT%H:%M:%SZ}"
    )
