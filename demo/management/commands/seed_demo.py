"""manage.py seed_demo."""

from typing import Any

from django.core.management.base import BaseCommand

from demo.seed import seed


class Command(BaseCommand):
    """Load the demo shop and its staff; running it again changes nothing."""

    help = "Load the demo shop and its staff, and print the demo sign-ins."

    def handle(self, *args: Any, **options: Any) -> None:
        for sign_in in seed():
            self.stdout.write(f"{sign_in.role:8} {sign_in.name:6} {sign_in.password}")
