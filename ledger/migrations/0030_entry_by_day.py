"""Entries by day, for the sample that people look at and the sums of the overview."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('ledger', '0020_phone'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='entry',
            index=models.Index(fields=['at'], name='entry_by_day'),
        ),
    ]
