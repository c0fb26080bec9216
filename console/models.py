"""What sign-in keeps in the database, so that every process counts the same."""

from django.db import models


class Attempt(models.Model):
    """How often somebody tried to sign in within one window; `key` is a hash of who tried from where."""

    key = models.CharField(primary_key=True, max_length=64)
    count = models.PositiveIntegerField()
    since = models.DateTimeField()


class CacheEntry(models.Model):
    """The table of Django's database cache, which creates none by itself in a migration."""

    cache_key = models.CharField(primary_key=True, max_length=255)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)
