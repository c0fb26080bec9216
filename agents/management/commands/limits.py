"""`manage.py limits show` and `limits set NAME MOST --as WHO`: what bounds turns and days, while it runs."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from agents.models import Limit
from agents.turns import limits
from approvals.models import Staff
from audit.record import Actor, NewEvent, record


class Command(BaseCommand):
    help = "Show the limits of turns and days, or set one without a restart."

    def add_arguments(self, parser: CommandParser) -> None:
        deeds = parser.add_subparsers(dest="deed", required=True)
        deeds.add_parser("show", help="every limit as it stands")
        setting = deeds.add_parser("set", help="set one; every process goes by it within seconds")
        setting.add_argument("name")
        setting.add_argument("most", type=int)
        setting.add_argument("--as", dest="who", required=True, metavar="NAME", help="the administrator who sets it")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["deed"] == "set":
            self._set(options["name"], options["most"], options["who"])
        for name in limits.defaults():
            self.stdout.write(f"{name} {limits.current(name)}")

    def _set(self, name: str, most: int, who: str) -> None:
        if name not in limits.defaults():
            raise CommandError(f"No limit {name!r}. There are: {', '.join(limits.defaults())}.")
        if most < 0:
            raise CommandError("A limit is a whole number from 0 on.")
        if not Staff.objects.filter(username=who, role__in=("admin", "lead"), is_active=True).exists():
            raise CommandError(f"{who!r} is no active lead or administrator.")
        with transaction.atomic():
            Limit.objects.update_or_create(name=name, defaults={"most": most, "set_by": who})
            actor = Actor(kind="staff", id=who)
            record(actor, NewEvent(kind="policy", decision="limit_set", rule=name), most=most)
        limits.forget()
