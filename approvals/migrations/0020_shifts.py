"""The queue's orders have an index each; people snooze, go away, and ask customers fixed questions."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


SQL = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON approvals_question
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
"""
REVERSE = "DROP TRIGGER append_only ON approvals_question;"


class Migration(migrations.Migration):

    dependencies = [
        ('approvals', '0013_signature'),
    ]

    operations = [
        migrations.CreateModel(
            name='Absence',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('since', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('ended_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Question',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.CharField(choices=[('photo', 'Photo'), ('what_happened', 'What Happened'), ('which_item', 'Which Item'), ('delivery', 'Delivery'), ('method', 'Method'), ('still_wanted', 'Still Wanted')], max_length=20)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='Snooze',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('until', models.DateTimeField()),
            ],
        ),
        migrations.RemoveIndex(
            model_name='request',
            name='request_queue',
        ),
        migrations.AddIndex(
            model_name='request',
            index=models.Index(condition=models.Q(('state', 'pending')), fields=['expires_at', 'reference'], name='request_queue'),
        ),
        migrations.AddIndex(
            model_name='request',
            index=models.Index(condition=models.Q(('state', 'pending')), fields=['created_at', 'reference'], name='request_queue_by_age'),
        ),
        migrations.AddIndex(
            model_name='request',
            index=models.Index(condition=models.Q(('state', 'pending')), fields=['amount_minor', 'reference'], name='request_queue_by_amount'),
        ),
        migrations.AddIndex(
            model_name='request',
            index=models.Index(condition=models.Q(('state', 'executed')), fields=['created_at', 'reference'], name='request_executed'),
        ),
        migrations.AddIndex(
            model_name='request',
            index=models.Index(condition=models.Q(('state', 'denied')), fields=['created_at', 'reference'], name='request_denied'),
        ),
        migrations.AddIndex(
            model_name='request',
            index=models.Index(condition=models.Q(('state__in', ('expired', 'stale', 'withdrawn', 'failed'))), fields=['created_at', 'reference'], name='request_closed'),
        ),
        migrations.AddField(
            model_name='absence',
            name='staff',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='absences', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='question',
            name='request',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='questions', to='approvals.request'),
        ),
        migrations.AddField(
            model_name='question',
            name='staff',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='snooze',
            name='request',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='snoozes', to='approvals.request'),
        ),
        migrations.AddField(
            model_name='snooze',
            name='staff',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddConstraint(
            model_name='absence',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('staff',), name='away_once'),
        ),
        migrations.AddConstraint(
            model_name='absence',
            constraint=models.CheckConstraint(condition=models.Q(('ended_at', None), ('ended_at__gte', models.F('since')), _connector='OR'), name='absence_ends_after_it_began'),
        ),
        migrations.AddConstraint(
            model_name='question',
            constraint=models.UniqueConstraint(fields=('request', 'code'), name='asked_once_each'),
        ),
        migrations.AddConstraint(
            model_name='question',
            constraint=models.CheckConstraint(condition=models.Q(('code__in', ['photo', 'what_happened', 'which_item', 'delivery', 'method', 'still_wanted'])), name='question_known'),
        ),
        migrations.AddIndex(
            model_name='snooze',
            index=models.Index(fields=['staff', 'until'], name='snooze_by_staff'),
        ),
        migrations.AddConstraint(
            model_name='snooze',
            constraint=models.UniqueConstraint(fields=('request', 'staff'), name='snoozed_once_each'),
        ),
        migrations.RunSQL(SQL, REVERSE),
    ]
