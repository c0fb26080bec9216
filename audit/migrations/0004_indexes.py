import django.contrib.postgres.indexes
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0003_decoy'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='event',
            index=models.Index(condition=models.Q(('actor_kind', 'customer'), _negated=True), fields=['actor_id', '-id'], name='event_by_staff'),
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(condition=models.Q(('tool_use_id', ''), _negated=True), fields=['tool_use_id'], name='event_by_call'),
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(condition=models.Q(('downstream_reference', ''), _negated=True), fields=['downstream_reference'], name='event_by_outcome'),
        ),
        migrations.AddIndex(
            model_name='event',
            index=django.contrib.postgres.indexes.BrinIndex(autosummarize=True, fields=['at'], name='event_by_time'),
        ),
    ]
