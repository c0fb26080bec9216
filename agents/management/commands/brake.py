"""`manage.py brake on|off [--tool NAME | --answers] --as NAME --reason TEXT`: stop, or let go as the second of two."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.tools.registry import tools
from approvals import brakes
from approvals.errors import Invalid
from approvals.models import Staff


class Command(BaseCommand):
    """Pull the brake, or propose and agree to let it go."""

    help = "Stop one tool, all writes or all answers at once; `off` proposes, another person's `off` lets go."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("state", choices=("on", "off"))
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--tool", default="", metavar="NAME", help="this tool alone; without it, all writes")
        what.add_argument("--answers", action="store_true", help="answer no customer at all, and write nothing")
        parser.add_argument("--as", dest="who", required=True, metavar="NAME", help="the lead or administrator")
        parser.add_argument("--reason", required=True, metavar="TEXT")

    def handle(self, *args: Any, state: str, tool: str, answers: bool, who: str, reason: str, **options: Any) -> None:
        staff = Staff.objects.filter(username=who).first()
        if staff is None:
            raise CommandError(f"There is no member of staff named {who!r}.")
        if tool and tool not in tools():
            raise CommandError(f"There is no tool {tool!r}: give one of {', '.join(tools())}.")
        deed = brakes.pull if state == "on" else brakes.release
        try:
            brake = deed(staff=staff, reason=reason, tool=tool, answers=answers)
        except (brakes.BrakeRefused, Invalid) as refusal:
            raise CommandError(refusal.message) from refusal
        self.stdout.write(brakes.told(brake))
