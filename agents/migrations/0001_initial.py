import django.db.models.deletion
import django.db.models.functions.datetime
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Conversation',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                ('customer_id', models.CharField(max_length=200)),
                ('session_id', models.CharField(help_text='The session that wrote last.', max_length=100)),
                ('state', models.CharField(choices=[('open', 'Open'), ('with_staff', 'With Staff'), ('closed', 'Closed')], default='open', max_length=10)),
                ('held_since', models.DateTimeField(help_text='When the holder took it over.', null=True)),
                ('history_from', models.PositiveIntegerField(default=1, help_text="The turn with which the model's history begins.")),
                ('policy_version', models.PositiveIntegerField(db_default=1, default=1, help_text='In force when it began.')),
                ('auth_time', models.DateTimeField(help_text='When the customer who wrote last proved who they are.', null=True)),
                ('amr', models.JSONField(db_default=[], default=list, help_text='How they proved it, as their token says.')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='Definition',
            fields=[
                ('digest', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('model', models.CharField(max_length=100)),
                ('system', models.TextField()),
                ('tools', models.TextField(help_text='The `tools` of every request, as JSON text.')),
                ('prompt_hash', models.CharField(max_length=64)),
                ('schema_hash', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='HandOff',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reference', models.CharField(max_length=16, unique=True)),
                ('summary', models.TextField(help_text="The model's own words, for staff.")),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('ended_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Limit',
            fields=[
                ('name', models.CharField(max_length=40, primary_key=True, serialize=False)),
                ('most', models.BigIntegerField()),
                ('set_by', models.CharField(max_length=150)),
                ('set_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('author', models.CharField(choices=[('customer', 'Customer'), ('assistant', 'Assistant'), ('staff', 'Staff'), ('notice', 'Notice'), ('operator', 'Operator'), ('opening', 'Opening')], max_length=10)),
                ('text', models.TextField(blank=True, default='', help_text='What people read.')),
                ('said_by', models.CharField(blank=True, db_default='', default='', help_text='The name that the customer sees, of staff.', max_length=60)),
                ('client_id', models.CharField(max_length=100, null=True)),
                ('key', models.CharField(help_text='What must be said once.', max_length=200, null=True)),
                ('content', models.TextField(blank=True, default='', help_text="A reply's content blocks, as received.")),
                ('stop_reason', models.CharField(blank=True, default='', max_length=60)),
                ('in_history', models.BooleanField(default=True)),
                ('step', models.PositiveIntegerField(null=True)),
                ('provider_request_id', models.CharField(blank=True, default='', max_length=100)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='Pin',
            fields=[
                ('number', models.PositiveIntegerField(primary_key=True, serialize=False)),
                ('reason', models.CharField(max_length=1000)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='Session',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('customer_id', models.CharField(max_length=200)),
                ('session_id', models.CharField(max_length=100)),
                ('revoked_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('customer_id', 'session_id'), name='session_ended_once')],
            },
        ),
        migrations.CreateModel(
            name='ToolCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('block', models.PositiveSmallIntegerField()),
                ('tool_use_id', models.CharField(max_length=200)),
                ('tool', models.CharField(max_length=200)),
                ('decision', models.CharField(max_length=16)),
                ('reference', models.CharField(blank=True, default='', max_length=16)),
                ('result', models.TextField()),
                ('is_error', models.BooleanField(default=False)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='Turn',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                ('customer_id', models.CharField(max_length=200)),
                ('number', models.PositiveIntegerField()),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('finished', 'Finished')], default='queued', max_length=8)),
                ('reason', models.CharField(blank=True, default='', max_length=24)),
                ('fence', models.BigIntegerField(default=0)),
                ('owner', models.CharField(blank=True, default='', max_length=100)),
                ('lease_until', models.DateTimeField(null=True)),
                ('claimable_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('attempts', models.PositiveIntegerField(default=0, help_text='How often it was claimed.')),
                ('waits', models.PositiveIntegerField(default=0, help_text='How often it was handed back, to wait for a model.')),
                ('silenced', models.BooleanField(db_default=False, default=False, help_text='A person took over while it ran: it ends before its next dispatch.')),
                ('last_input_tokens', models.BigIntegerField(default=0, help_text='The whole input of its last model call.')),
                ('steps', models.PositiveIntegerField(default=0)),
                ('writes', models.PositiveIntegerField(default=0)),
                ('errors_in_row', models.PositiveIntegerField(default=0)),
                ('input_tokens', models.BigIntegerField(default=0)),
                ('output_tokens', models.BigIntegerField(default=0)),
                ('cost_microcents', models.BigIntegerField(default=0)),
                ('asked_tokens', models.BigIntegerField(db_default=0, default=0, help_text='Estimated input of the model call under way: what a lost reply counts as.')),
                ('asked_microcents', models.BigIntegerField(db_default=0, default=0)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='UntrustedText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('block', models.PositiveSmallIntegerField()),
                ('tool', models.CharField(max_length=200)),
                ('field', models.CharField(blank=True, default='', help_text='Empty for the whole result.', max_length=100)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.AddField(
            model_name='conversation',
            name='holder',
            field=models.ForeignKey(help_text='Who has it, of staff.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='conversation',
            name='definition',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='agents.definition'),
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
        migrations.AddConstraint(
            model_name='limit',
            constraint=models.CheckConstraint(condition=models.Q(('most__gte', 0)), name='limit_not_negative'),
        ),
        migrations.AddField(
            model_name='message',
            name='conversation',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='messages', to='agents.conversation'),
        ),
        migrations.AddField(
            model_name='message',
            name='staff',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='pin',
            name='definition',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='agents.definition'),
        ),
        migrations.AddField(
            model_name='pin',
            name='staff',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='toolcall',
            name='message',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='tool_calls', to='agents.message'),
        ),
        migrations.AddField(
            model_name='turn',
            name='conversation',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='turns', to='agents.conversation'),
        ),
        migrations.AddField(
            model_name='toolcall',
            name='turn',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tool_calls', to='agents.turn'),
        ),
        migrations.AddField(
            model_name='message',
            name='turn',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='messages', to='agents.turn'),
        ),
        migrations.AddField(
            model_name='untrustedtext',
            name='conversation',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='untrusted_texts', to='agents.conversation'),
        ),
        migrations.AddField(
            model_name='untrustedtext',
            name='message',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='agents.message'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(fields=['customer_id', '-created_at'], name='conversation_by_customer'),
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
        migrations.AddConstraint(
            model_name='pin',
            constraint=models.CheckConstraint(condition=models.Q(('reason__gt', '')), name='a_pin_has_a_reason'),
        ),
        migrations.AddIndex(
            model_name='turn',
            index=models.Index(condition=models.Q(('state', 'finished'), _negated=True), fields=['claimable_at'], name='turn_claimable'),
        ),
        migrations.AddIndex(
            model_name='turn',
            index=models.Index(fields=['customer_id', 'created_at'], name='turn_by_customer_and_day'),
        ),
        migrations.AddIndex(
            model_name='turn',
            index=models.Index(fields=['created_at'], name='turn_by_day'),
        ),
        migrations.AddIndex(
            model_name='turn',
            index=models.Index(condition=models.Q(('state', 'finished'), models.Q(('reason', 'answered'), _negated=True)), fields=['finished_at'], name='turn_unanswered'),
        ),
        migrations.AddConstraint(
            model_name='turn',
            constraint=models.UniqueConstraint(fields=('conversation', 'number'), name='turn_number'),
        ),
        migrations.AddConstraint(
            model_name='turn',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'running')), fields=('conversation',), name='one_running_turn'),
        ),
        migrations.AddConstraint(
            model_name='turn',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'queued')), fields=('conversation',), name='one_queued_turn'),
        ),
        migrations.AddConstraint(
            model_name='turn',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('reason__gt', ''), ('state', 'finished')), models.Q(models.Q(('state', 'finished'), _negated=True), ('reason', '')), _connector='OR'), name='finished_has_a_reason'),
        ),
        migrations.AddConstraint(
            model_name='toolcall',
            constraint=models.UniqueConstraint(fields=('message', 'block'), name='one_result_per_call'),
        ),
        migrations.AddIndex(
            model_name='message',
            index=models.Index(fields=['conversation', '-id'], name='message_by_conversation'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(condition=models.Q(('client_id__isnull', False)), fields=('conversation', 'client_id'), name='message_once'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(condition=models.Q(('key__isnull', False)), fields=('conversation', 'key'), name='said_once'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(condition=models.Q(('author', 'assistant')), fields=('turn', 'step'), name='one_reply_per_step'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('author', 'staff'), ('in_history', False), ('said_by__gt', ''), ('staff__isnull', False)), models.Q(models.Q(('author', 'staff'), _negated=True), ('said_by', ''), ('staff__isnull', True)), _connector='OR'), name='staff_say_who_and_never_to_the_model'),
        ),
        migrations.AddConstraint(
            model_name='untrustedtext',
            constraint=models.UniqueConstraint(fields=('message', 'block', 'field'), name='untrusted_text_once'),
        ),
    ]
