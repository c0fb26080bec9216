"""The pages on which staff work: above the rules, which stay in `approvals` and `agents`."""

from importlib import import_module

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """Hears of every sign-in."""

    name = "console"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import_module("console.sign_in.signals")  # connects the receivers
        from approvals.news import desk_changed, request_changed
        from console.live.telling import tell_desk, tell_desk_of

        request_changed.connect(tell_desk_of, dispatch_uid="console.live.telling")
        desk_changed.connect(tell_desk, dispatch_uid="console.live.telling.desk")
