"""manage.py import_shop FILE."""

import shutil
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ledger.files.importing import Counts, import_shop
from ledger.files.lines import ShopError


class Command(BaseCommand):
    """Import a file in the shop's format, whole or not at all."""

    help = "Import a shop's customers, products and orders from JSON lines."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="the shop as JSON lines")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            counts = _import(file)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
        except ShopError as error:
            raise CommandError(f"{error}. Nothing of {file} was imported.") from error
        self.stdout.write(_told(counts))


def _import(file: Path) -> Counts:
    # A copy, because the file is read three times and may be a pipe, or change meanwhile.
    with tempfile.TemporaryFile() as copy:
        with file.open("rb") as source:
            shutil.copyfileobj(source, copy)
        return import_shop(copy, _progress)


def _progress(done: int, total: int) -> None:
    end = "\n" if done == total or not sys.stderr.isatty() else ""
    sys.stderr.write(f"\r{done} of {total} lines{end}" if sys.stderr.isatty() else f"{done} of {total} lines{end}")
    sys.stderr.flush()


def _told(counts: Counts) -> str:
    if not counts.new + counts.changed:
        return f"Nothing new in {counts.same} lines."
    return f"Imported: {counts.new} new, {counts.changed} changed, {counts.same} known already."
