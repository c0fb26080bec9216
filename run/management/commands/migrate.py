"""Django's migrate, as the database's owner, followed by the rules that stand as SQL."""

from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from run import catalogue

OWNER_ALIAS = "owner"
_PARTIAL = ("app_label", "plan", "check_unapplied", "prune")


class Command(migrate.Command):
    """Migrate with the owner's connection: the application's role can change no table."""

    help = "Bring the database's tables, rules and grants up to date, as their owner (DATABASE_OWNER_URL)."

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
        """Migrate, then make the rules what their files say, whole or not at all."""
        _refuse_strangers()
        super().handle(*args, **options)
        if any(options[part] for part in _PARTIAL):
            return
        # After all migrations and not in them: today's text fits today's tables alone, and in a fresh database a
        # migration of last year finds those of last year.
        with psycopg.connect(str(settings.ENV.database_owner_url), autocommit=True) as owner:
            changed = catalogue.apply(owner)
        if options["verbosity"] > 1:
            self.stdout.writelines(f"  {sentence}" for sentence in changed)


def _refuse_strangers() -> None:
    """A database of an earlier preview has tables that no migration of ours made."""
    known = MigrationLoader(None, ignore_no_migrations=True).disk_migrations
    applied = MigrationRecorder(connections[OWNER_ALIAS]).applied_migrations()
    strangers = sorted(f"{app}.{name}" for app, name in applied if app in catalogue.APPS and (app, name) not in known)
    if strangers:
        raise CommandError(
            f"Another version of Placet made this database ({strangers[0]} is not one of this version's migrations): "
            "start with a new PLACET_HOME or an empty database; what a preview stored is not taken over."
        )
