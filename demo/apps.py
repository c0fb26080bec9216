from django.apps import AppConfig


class DemoConfig(AppConfig):
    """The demo shop: its pages, what it sells, and the command that loads it."""

    name = "demo"
