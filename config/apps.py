"""The composition root as an app: it joins Celery to Django."""

from importlib import import_module

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """Named in INSTALLED_APPS as `config`."""

    name = "config"

    def ready(self) -> None:
        """Make the Celery app, so that every process that sends a task sends it to our broker."""
        import_module("config.celery")
