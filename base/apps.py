from django.apps import AppConfig


class BaseConfig(AppConfig):
    """What every app stands on and none owns: its template tags are the reason why it is an app."""

    name = "base"
