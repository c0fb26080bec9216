import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from base.indexes import drop_prefix_indexes


class Migration(migrations.Migration):

    dependencies = [
        ('approvals', '0042_policy_withdrawn'),
    ]

    operations = [
        migrations.AlterField(
            model_name='cardview',
            name='request',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='card_views', to='approvals.request'),
        ),
        migrations.AlterField(
            model_name='clearance',
            name='staff',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='clearances', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='decision',
            name='request',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to='approvals.request'),
        ),
        migrations.AlterField(
            model_name='question',
            name='request',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='questions', to='approvals.request'),
        ),
        migrations.AlterField(
            model_name='snooze',
            name='request',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='snoozes', to='approvals.request'),
        ),
        migrations.AlterField(
            model_name='snooze',
            name='staff',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='decision',
            index=models.Index(fields=['at'], name='decision_by_time'),
        ),
        migrations.AddIndex(
            model_name='request',
            index=models.Index(condition=models.Q(('replaces__gt', '')), fields=['replaces'], name='request_reissued'),
        ),
        migrations.AddIndex(
            model_name='request',
            index=models.Index(condition=models.Q(('state__in', ['executing', 'unknown'])), fields=['lease_until'], name='request_in_doubt'),
        ),
        drop_prefix_indexes('approvals'),
    ]
