"""The pages on which staff work: above the rules, which stay in `approvals` and `agents`."""

from importlib import import_module

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """Hears of every sign-in."""

    name = "console"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import_module("console.signals")  # connects the receivers
