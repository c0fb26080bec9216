"""Staff who take a conversation over, what a model asked a person for, and turns that were silenced."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

SQL = """
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON agents_handoff
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE FUNCTION keep_what_staff_said() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what staff said to a customer stays as it was said' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER staff_said BEFORE UPDATE ON agents_message
    FOR EACH ROW WHEN (OLD.author = 'staff' OR NEW.author = 'staff') EXECUTE FUNCTION keep_what_staff_said();
"""
REVERSE = """
DROP TRIGGER append_only ON agents_handoff;
DROP TRIGGER staff_said ON agents_message;
DROP FUNCTION keep_what_staff_said();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0003_lost_replies'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='HandOff',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reference', models.CharField(max_length=16, unique=True)),
                ('summary', models.TextField(help_text="The model's own words: its claim, for staff.")),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('ended_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.AddField(
            model_name='conversation',
            name='held_since',
            field=models.DateTimeField(help_text='When the holder took it over.', null=True),
        ),
        migrations.AddField(
            model_name='conversation',
            name='holder',
            field=models.ForeignKey(help_text='Who has it, of staff.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='message',
            name='said_by',
            field=models.CharField(blank=True, db_default='', default='', help_text='The name that the customer sees, of staff.', max_length=60),
        ),
        migrations.AddField(
            model_name='message',
            name='staff',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='turn',
            name='silenced',
            field=models.BooleanField(db_default=False, default=False, help_text='A person took over while it ran: it ends before its next dispatch.'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(fields=['-created_at', '-id'], name='conversation_newest'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(fields=['state', '-created_at', '-id'], name='conversation_by_state'),
        ),
        migrations.AddConstraint(
            model_name='conversation',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('held_since__isnull', False), ('holder__isnull', False), ('state', 'with_staff')), models.Q(models.Q(('state', 'with_staff'), _negated=True), ('held_since__isnull', True), ('holder__isnull', True)), _connector='OR'), name='with_staff_has_a_holder'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('author', 'staff'), ('in_history', False), ('said_by__gt', ''), ('staff__isnull', False)), models.Q(models.Q(('author', 'staff'), _negated=True), ('said_by', ''), ('staff__isnull', True)), _connector='OR'), name='staff_say_who_and_never_to_the_model'),
        ),
        migrations.AddField(
            model_name='handoff',
            name='conversation',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hand_offs', to='agents.conversation'),
        ),
        migrations.AddField(
            model_name='handoff',
            name='ended_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='handoff',
            index=models.Index(condition=models.Q(('ended_at', None)), fields=['at', 'id'], name='hand_off_waiting'),
        ),
        migrations.AddConstraint(
            model_name='handoff',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('conversation',), name='one_waiting_hand_off_each'),
        ),
        migrations.AddConstraint(
            model_name='handoff',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('ended_at', None), ('ended_by', None)), models.Q(('ended_at__isnull', False), ('ended_by__isnull', False)), _connector='OR'), name='a_hand_off_is_ended_by_somebody'),
        ),
        migrations.RunSQL(SQL, REVERSE),
    ]
