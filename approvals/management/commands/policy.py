"""`manage.py policy show|simulate|propose|activate`: the policy from the command line."""

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from approvals.models import PolicyVersion, Staff
from approvals.policy import versions
from approvals.policy.document import Document, InvalidDocument
from approvals.policy.simulation import MOST_DAYS, Simulation, simulate


class Command(BaseCommand):
    help = "Show the policy, see what a draft would have decided, propose one, or put another person's in force."

    def add_arguments(self, parser: CommandParser) -> None:
        deeds = parser.add_subparsers(dest="deed", required=True)
        showing = deeds.add_parser("show", help="the document in force, or of a version, as JSON")
        showing.add_argument("version", nargs="?", type=int)
        trying = deeds.add_parser("simulate", help="verdicts on recorded events that a draft would change")
        trying.add_argument("draft", help="a file with a document, - for standard input, or a version's number")
        trying.add_argument("--days", type=int, default=7)
        proposing = deeds.add_parser("propose", help="store a document as the next version")
        proposing.add_argument("file", help="a file with a document, or - for standard input")
        activating = deeds.add_parser("activate", help="put another person's version in force")
        activating.add_argument("version", type=int)
        for deed in (trying, proposing, activating):
            deed.add_argument("--as", dest="who", metavar="NAME", required=deed is not trying)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"_{options['deed']}")(options)
        except InvalidDocument as error:
            raise CommandError(f"This is no policy: {error}.") from error
        except versions.PolicyRefused as error:
            raise CommandError(error.message) from error

    def _show(self, options: dict[str, Any]) -> None:
        version = versions.version_in_force() if options["version"] is None else options["version"]
        self.stdout.write(json.dumps(_version(version).document, indent=2))
        self.stderr.write(f"Version {version}; version {versions.version_in_force()} is in force.")

    def _simulate(self, options: dict[str, Any]) -> None:
        if not 1 <= options["days"] <= MOST_DAYS:
            raise CommandError(f"--days is a whole number from 1 to {MOST_DAYS}.")
        _tell(self, simulate(_draft(options["draft"]), options["days"]))

    def _propose(self, options: dict[str, Any]) -> None:
        made = versions.propose(staff=_staff(options["who"]), text=_read(options["file"]))
        self.stdout.write(f"Proposed version {made.version}. Another lead or administrator can activate it.")

    def _activate(self, options: dict[str, Any]) -> None:
        made = versions.activate(staff=_staff(options["who"]), version=options["version"])
        self.stdout.write(f"Version {made.version} is in force.")


def _tell(command: Command, found: Simulation) -> None:
    write = command.stdout.write
    write(f"{found.writes} writes in {found.days} days; {found.otherwise} verdicts change.")
    for row in found.rows():
        write(f"  {row['before']} -> {row['after']}: {row['count']} ({row['money'] or 'no money'})")
    write(f"Reviews a day: {found.reviews_before / found.days:.1f} -> {found.reviews_after / found.days:.1f}.")


def _draft(named: str) -> Document:
    if named.isascii() and named.isdigit():
        _version(int(named))
        return versions.policy_at(int(named))
    return versions.check(_read(named))


def _version(version: int) -> PolicyVersion:
    found = PolicyVersion.objects.filter(version=version).first()
    if found is None:
        raise CommandError(f"There is no policy version {version}.")
    return found


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"Cannot read {file}: {error}.") from error


def _staff(name: str) -> Staff:
    found = Staff.objects.filter(username=name, is_active=True).first()
    if found is None:
        raise CommandError(f"There is no active member of staff named {name!r}.")
    return found
