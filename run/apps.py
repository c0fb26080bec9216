from django.apps import AppConfig


class RunConfig(AppConfig):
    """Sets up and starts the product; it brings the migrate command."""

    name = "run"
