"""The pages on which staff work: above the rules, which stay in `approvals` and `agents`."""

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """Nothing of its own to set up."""

    name = "console"
    default_auto_field = "django.db.models.BigAutoField"
