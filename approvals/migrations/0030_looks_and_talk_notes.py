"""What staff found in the sample of automatic executions, and notes on conversations."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

SQL = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON approvals_look
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
"""
REVERSE = "DROP TRIGGER append_only ON approvals_look;"


class Migration(migrations.Migration):

    dependencies = [
        ('approvals', '0020_shifts'),
    ]

    operations = [
        migrations.CreateModel(
            name='Look',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('entry_reference', models.CharField(max_length=16, unique=True)),
                ('customer_id', models.CharField(max_length=200)),
                ('outcome', models.CharField(choices=[('fine', 'Fine'), ('wrong', 'Wrong')], max_length=8)),
                ('note', models.CharField(blank=True, default='', max_length=1000)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.AddField(
            model_name='note',
            name='conversation_id',
            field=models.UUIDField(help_text='Where it was written in one, about that.', null=True),
        ),
        migrations.AddIndex(
            model_name='note',
            index=models.Index(condition=models.Q(('conversation_id__isnull', False)), fields=['conversation_id', '-at'], name='note_by_conversation'),
        ),
        migrations.AddIndex(
            model_name='request',
            index=models.Index(condition=models.Q(('decided_at__isnull', False)), fields=['decided_at'], name='request_decided'),
        ),
        migrations.AddField(
            model_name='look',
            name='staff',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddConstraint(
            model_name='look',
            constraint=models.CheckConstraint(condition=models.Q(('outcome__in', ['fine', 'wrong'])), name='look_outcome_known'),
        ),
        migrations.AddConstraint(
            model_name='look',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('outcome', 'wrong'), _negated=True), ('note__gt', ''), _connector='OR'), name='what_is_wrong_is_said'),
        ),
        migrations.RunSQL(SQL, REVERSE),
    ]
