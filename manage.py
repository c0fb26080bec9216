#!/usr/bin/env python
"""Placet's commands. What goes wrong is told in one sentence with exit code 1; --traceback shows where."""

import difflib
import os
import sys
from types import TracebackType

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import BaseCommand, ManagementUtility, get_commands, load_command_class
from django.core.management.base import CommandError
from django.db import OperationalError, connections
from redis import ConnectionError as BrokerConnectionError

NOT_RUNNING = "Placet is not running: start it with make run, or set DATABASE_URL."


def main(arguments: list[str]) -> None:
    """Run one command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if "--traceback" not in arguments:
        sys.excepthook = say
    if not arguments or arguments[0].startswith("-") or arguments[0] == "help":
        ManagementUtility(["manage.py", *(arguments or ["help"])]).execute()
        return
    django.setup()
    name, *rest = arguments
    command = find(name)
    # Not run_from_argv: it writes usage lines or a class name around the one sentence.
    options = vars(command.create_parser("manage.py", name).parse_args(rest))
    try:
        command.execute(*options.pop("args", ()), **options)
    finally:
        connections.close_all()


def find(name: str) -> BaseCommand:
    """The command of that name. Raises CommandError with the nearest name there is."""
    commands = get_commands()
    if name not in commands:
        close = difflib.get_close_matches(name, commands, n=1)
        hint = f"did you mean {close[0]}?" if close else "manage.py help lists them."
        raise CommandError(f"There is no command {name}: {hint}")
    where = commands[name]
    return where if isinstance(where, BaseCommand) else load_command_class(where, name)


def sentence(error: BaseException) -> str:
    """What went wrong, for the one who typed the command."""
    text = str(error).strip()
    match error:
        case KeyboardInterrupt():
            return "Stopped."
        case ImproperlyConfigured() if "supply the ENGINE" in text:
            return NOT_RUNNING
        case OperationalError():
            return f"The database does not answer ({text.splitlines()[0] if text else 'no reason given'})."
        case BrokerConnectionError():
            return f"The broker does not answer ({text})."
        case CommandError() | ImproperlyConfigured() | ValueError() | RuntimeError():
            return text.removeprefix("Error: ")
        case _:
            return f"{type(error).__name__}: {text} (add --traceback to see where)"


def say(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Python's hook for what nobody caught: the sentence in place of the traceback."""
    sys.stderr.write(f"{sentence(error)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
