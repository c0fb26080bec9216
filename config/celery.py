"""The Celery app: set by Django's CELERY_ settings; tasks are doorbells, Postgres holds the work."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("placet")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.set_default()  # the current app is one thread's own: other threads would send to no broker at all
app.autodiscover_tasks()
