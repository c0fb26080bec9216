"""Django's migrate, as the database's owner, followed by every grant."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import connections, transaction

OWNER_ALIAS = "owner"
GRANTS = Path(settings.BASE_DIR) / "run" / "grants.sql"


class Command(migrate.Command):
    """Migrate with the owner's connection: the application's role can change no table."""

    help = "Bring the database's tables and grants up to date, as their owner (DATABASE_OWNER_URL)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take Django's arguments, with the owner's database as the default."""
        super().add_arguments(parser)
        parser.set_defaults(database=OWNER_ALIAS)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Refuse early, before Django's checks ask for a database that is not there."""
        if OWNER_ALIAS not in connections:
            raise CommandError(
                "migrate needs the database's owner: start Placet with make run, or set DATABASE_OWNER_URL."
            )
        return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate, then apply run/grants.sql whole or not at all."""
        super().handle(*args, **options)
        with transaction.atomic(using=OWNER_ALIAS), connections[OWNER_ALIAS].cursor() as cursor:
            cursor.execute(GRANTS.read_text())
