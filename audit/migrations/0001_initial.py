import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('kind', models.CharField(choices=[('dispatch', 'Dispatch'), ('decision', 'Decision'), ('execution', 'Execution'), ('sign_in', 'Sign In'), ('access', 'Access'), ('role', 'Role'), ('policy', 'Policy'), ('brake', 'Brake'), ('turn', 'Turn'), ('request', 'Request'), ('payout', 'Payout'), ('decoy', 'Decoy')], max_length=16)),
                ('actor_kind', models.CharField(choices=[('customer', 'Customer'), ('staff', 'Staff'), ('system', 'System')], max_length=8)),
                ('actor_id', models.CharField(max_length=200)),
                ('customer_id', models.CharField(blank=True, default='', max_length=200)),
                ('conversation_id', models.UUIDField(null=True)),
                ('turn_id', models.UUIDField(null=True)),
                ('tool_use_id', models.CharField(blank=True, default='', max_length=200)),
                ('tool', models.CharField(blank=True, default='', max_length=100)),
                ('decision', models.CharField(max_length=16)),
                ('rule', models.CharField(blank=True, default='', max_length=60)),
                ('reference', models.CharField(blank=True, default='', max_length=16)),
                ('downstream_reference', models.CharField(blank=True, default='', max_length=200)),
                ('order_id', models.CharField(blank=True, default='', max_length=200)),
                ('amount_minor', models.BigIntegerField(null=True)),
                ('currency', models.CharField(blank=True, default='', max_length=3)),
                ('policy_version', models.IntegerField(null=True)),
                ('session_id', models.CharField(blank=True, default='', max_length=100)),
                ('credential_id', models.CharField(blank=True, default='', max_length=40)),
                ('idempotency_key', models.CharField(blank=True, default='', max_length=200)),
                ('model', models.CharField(blank=True, default='', max_length=100)),
                ('prompt_hash', models.CharField(blank=True, default='', max_length=64)),
                ('schema_hash', models.CharField(blank=True, default='', max_length=64)),
                ('provider_request_id', models.CharField(blank=True, default='', max_length=100)),
                ('latency_ms', models.IntegerField(null=True)),
                ('build', models.CharField(blank=True, default='', max_length=40)),
                ('detail_hash', models.CharField(max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name='Detail',
            fields=[
                ('event', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='detail', serialize=False, to='audit.event')),
                ('salt', models.BinaryField(max_length=16)),
                ('body', models.TextField(help_text='JSON: reason, arguments, effective arguments, facts, note, origin.')),
            ],
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(fields=['customer_id', '-id'], name='event_by_customer'),
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(fields=['conversation_id', '-id'], name='event_by_conversation'),
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(fields=['reference'], name='event_by_reference'),
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(fields=['kind', '-id'], name='event_by_kind'),
        ),
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
        migrations.AddConstraint(
            model_name='event',
            constraint=models.CheckConstraint(condition=models.Q(('amount_minor__isnull', True), models.Q(('currency', ''), _negated=True), _connector='OR'), name='event_amount_has_currency'),
        ),
        migrations.AddConstraint(
            model_name='event',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['dispatch', 'decision', 'execution', 'sign_in', 'access', 'role', 'policy', 'brake', 'turn', 'request', 'payout', 'decoy'])), name='event_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='event',
            constraint=models.CheckConstraint(condition=models.Q(('actor_kind__in', ['customer', 'staff', 'system'])), name='event_actor_kind_known'),
        ),
    ]
