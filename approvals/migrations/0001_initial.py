import django.contrib.auth.models
import django.contrib.auth.validators
import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='Decision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('revision', models.PositiveSmallIntegerField()),
                ('round', models.PositiveSmallIntegerField(default=0, help_text='How often this person has withdrawn before.')),
                ('verdict', models.CharField(choices=[('approve', 'Approve'), ('deny', 'Deny')], max_length=8)),
                ('customer_id', models.CharField(help_text='Whose request it is.', max_length=200)),
                ('staff_customer_id', models.CharField(blank=True, default='', help_text='Who decides, as a customer.', max_length=200)),
                ('digest', models.CharField(max_length=64)),
                ('shown_hash', models.CharField(help_text='SHA-256 of what the page showed.', max_length=64)),
                ('shown', models.JSONField()),
                ('seconds', models.PositiveIntegerField(help_text='From opening the page to deciding; null without one.', null=True)),
                ('cards', models.JSONField(default=dict, help_text='By card of the page, seconds in view.')),
                ('too_fast', models.BooleanField(default=False, help_text='Nobody can have read in that time what was shown.')),
                ('reason_code', models.CharField(blank=True, choices=[('duplicate', 'Duplicate'), ('not_eligible', 'Not eligible'), ('evidence_missing', 'Evidence missing'), ('suspected_fraud', 'Suspected fraud'), ('policy', 'Against our policy'), ('goodwill', 'Goodwill'), ('other', 'Other')], default='', max_length=20)),
                ('note', models.TextField(blank=True, default='', help_text='For staff; never the customer or the model.')),
                ('customer_message', models.TextField(blank=True, default='', help_text='For the customer; never the model.')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='Staff',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('role', models.CharField(choices=[('agent', 'agent'), ('lead', 'lead'), ('auditor', 'auditor'), ('admin', 'admin')], max_length=10)),
                ('customer_id', models.CharField(blank=True, default='', max_length=200)),
                ('phone', models.CharField(blank=True, default='', help_text='To reach them; never shown to customers.', max_length=40)),
                ('tokens_valid_from', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), help_text='Sessions begun and API tokens issued before are void.')),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'verbose_name': 'user',
                'verbose_name_plural': 'users',
                'abstract': False,
            },
            managers=[
                ('objects', django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name='Absence',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('since', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('ended_at', models.DateTimeField(null=True)),
                ('staff', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='absences', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Brake',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('target', models.CharField(choices=[('tool', 'One tool'), ('writes', 'All writes'), ('answers', 'Answering at all')], max_length=7)),
                ('tool', models.CharField(blank=True, default='', max_length=100)),
                ('pulled_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('reason', models.CharField(max_length=1000)),
                ('proposed_at', models.DateTimeField(help_text='When somebody proposed to let go.', null=True)),
                ('proposed_reason', models.CharField(blank=True, default='', max_length=1000)),
                ('released_at', models.DateTimeField(null=True)),
                ('proposed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('pulled_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('released_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Clearance',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('customer_id', models.CharField(max_length=200)),
                ('reason', models.CharField(max_length=1000)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('cleared_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('staff', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='clearances', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Signature',
            fields=[
                ('decision', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='signature', serialize=False, to='approvals.decision')),
                ('nonce', models.CharField(help_text='Ours, signed with the time; used once.', max_length=200, unique=True)),
                ('signed', models.TextField()),
                ('rp_id', models.CharField(help_text='The host that the passkey is bound to.', max_length=253)),
                ('credential_id', models.BinaryField()),
                ('public_key', models.BinaryField(help_text='A COSE key in CBOR.')),
                ('authenticator_data', models.BinaryField()),
                ('client_data', models.BinaryField(help_text='clientDataJSON, byte for byte.')),
                ('signature', models.BinaryField(help_text='Over authenticator_data and the SHA-256 of client_data.')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='Withdrawal',
            fields=[
                ('decision', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, serialize=False, to='approvals.decision')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.AddField(
            model_name='decision',
            name='staff',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to=settings.AUTH_USER_MODEL),
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('channel', models.CharField(choices=[('email', 'Email'), ('webhook', 'Webhook')], max_length=7)),
                ('key', models.CharField(max_length=200, unique=True)),
                ('to', models.CharField(blank=True, default='', max_length=320)),
                ('subject', models.CharField(max_length=200)),
                ('text', models.TextField()),
                ('link', models.CharField(blank=True, default='', max_length=300)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('sent_at', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('sent_at', None)), fields=['id'], name='delivery_due')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('channel', 'email'), ('to__gt', '')), models.Q(('channel', 'webhook'), ('to', '')), _connector='OR'), name='mail_has_an_address')],
            },
        ),
        migrations.CreateModel(
            name='Flag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('customer_id', models.CharField(max_length=200)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('reason', models.CharField(max_length=1000)),
                ('cleared_at', models.DateTimeField(null=True)),
                ('author', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('cleared_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='MacroEdit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('macro', models.PositiveIntegerField(help_text="The macro's number, the same for all of its versions.")),
                ('version', models.PositiveIntegerField()),
                ('name', models.CharField(max_length=60)),
                ('use', models.CharField(choices=[('approve', 'Approve'), ('lowered', 'Approve less'), ('deny', 'Deny'), ('ask', 'Ask the customer')], max_length=8)),
                ('reason_code', models.CharField(blank=True, default='', max_length=20)),
                ('text', models.CharField(help_text='With variables such as {order_id}.', max_length=1500)),
                ('offered', models.BooleanField(default=True, help_text='Withdrawn macros are kept and not offered.')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('author', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Note',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('customer_id', models.CharField(max_length=200)),
                ('conversation_id', models.UUIDField(help_text='Where it was written in one, about that.', null=True)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('text', models.CharField(max_length=2000)),
                ('author', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Participant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('conversation_id', models.UUIDField()),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('staff', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='PolicyVersion',
            fields=[
                ('version', models.PositiveIntegerField(primary_key=True, serialize=False)),
                ('document', models.JSONField()),
                ('digest', models.CharField(help_text="SHA-256 of the document's canonical JSON.", max_length=64)),
                ('proposed_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('activated_at', models.DateTimeField(null=True)),
                ('withdrawn_at', models.DateTimeField(null=True)),
                ('activated_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('proposed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('withdrawn_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='ReasonEdit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.CharField(max_length=20)),
                ('version', models.PositiveIntegerField()),
                ('label', models.CharField(max_length=60)),
                ('help', models.CharField(blank=True, default='', max_length=300)),
                ('offered', models.BooleanField(default=True)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('author', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Request',
            fields=[
                ('reference', models.CharField(max_length=16, primary_key=True, serialize=False)),
                ('key', models.CharField(help_text='Proposal key: conversation, message and block.', max_length=200, unique=True)),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('approved', 'Approved'), ('executing', 'Executing'), ('executed', 'Executed'), ('denied', 'Denied'), ('expired', 'Expired'), ('stale', 'Stale'), ('withdrawn', 'Withdrawn'), ('failed', 'Failed'), ('unknown', 'Unknown')], default='pending', max_length=10)),
                ('revision', models.PositiveSmallIntegerField(default=1)),
                ('digest', models.CharField(max_length=64)),
                ('tool', models.CharField(max_length=100)),
                ('arguments', models.JSONField(help_text='As received, normalised by validation.')),
                ('preview', models.JSONField(help_text='What the action would change, as computed by the handler.')),
                ('facts', models.JSONField(help_text='What the policy saw.')),
                ('rule', models.CharField(max_length=60)),
                ('amount_minor', models.BigIntegerField()),
                ('currency', models.CharField(max_length=3)),
                ('customer_id', models.CharField(max_length=200)),
                ('order_id', models.CharField(blank=True, default='', max_length=200)),
                ('conversation_id', models.UUIDField()),
                ('turn_id', models.UUIDField()),
                ('tool_use_id', models.CharField(max_length=200)),
                ('session_id', models.CharField(max_length=100)),
                ('policy_version', models.IntegerField()),
                ('lowered_from_minor', models.BigIntegerField(help_text='What was asked for, where a person lowered it.', null=True)),
                ('approvals_needed', models.PositiveSmallIntegerField()),
                ('lead_needed', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('expires_at', models.DateTimeField()),
                ('reminded_at', models.DateTimeField(help_text='When colleagues were told again that it waits.', null=True)),
                ('escalated_at', models.DateTimeField(help_text='When the leads were told that it expires soon.', null=True)),
                ('assigned_until', models.DateTimeField(null=True)),
                ('decided_by', models.CharField(blank=True, default='', help_text='Who ended `pending`.', max_length=150)),
                ('decided_at', models.DateTimeField(null=True)),
                ('execute_after', models.DateTimeField(null=True)),
                ('execute_before', models.DateTimeField(null=True)),
                ('lease_until', models.DateTimeField(help_text="An executing worker's lease ends here.", null=True)),
                ('entry_reference', models.CharField(blank=True, default='', max_length=16)),
                ('replaces', models.CharField(blank=True, default='', help_text='The stale request it re-issues.', max_length=16)),
                ('reopened_at', models.DateTimeField(help_text='When a lead let what was denied be asked for again.', null=True)),
                ('ended_reason', models.CharField(blank=True, default='', max_length=300)),
                ('is_decoy', models.BooleanField(default=False, help_text='Made up, to see whether reviewers read; see decoys.')),
                ('assigned_to', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('reopened_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('second_approver', models.ForeignKey(help_text='Who gives the second approval.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='second_approvals', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Question',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.CharField(choices=[('photo', 'Photo'), ('what_happened', 'What Happened'), ('which_item', 'Which Item'), ('delivery', 'Delivery'), ('method', 'Method'), ('still_wanted', 'Still Wanted')], max_length=20)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('staff', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('request', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='questions', to='approvals.request')),
            ],
        ),
        migrations.AddField(
            model_name='decision',
            name='request',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to='approvals.request'),
        ),
        migrations.CreateModel(
            name='CardView',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('revision', models.PositiveSmallIntegerField()),
                ('card', models.CharField(choices=[('action', 'What would change'), ('case', 'The case file'), ('conversation', 'The conversation')], max_length=12)),
                ('opened_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('seconds', models.PositiveIntegerField(default=0)),
                ('staff', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('request', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='card_views', to='approvals.request')),
            ],
        ),
        migrations.CreateModel(
            name='Snooze',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('until', models.DateTimeField()),
                ('request', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='snoozes', to='approvals.request')),
                ('staff', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='SpotCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('entry_reference', models.CharField(max_length=16, unique=True)),
                ('customer_id', models.CharField(max_length=200)),
                ('outcome', models.CharField(choices=[('fine', 'Fine'), ('wrong', 'Wrong')], max_length=8)),
                ('note', models.CharField(blank=True, default='', max_length=1000)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('staff', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Task',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('mistake', 'A mistake was reported')], max_length=20)),
                ('reference', models.CharField(help_text='The request that it is about.', max_length=16)),
                ('customer_id', models.CharField(max_length=200)),
                ('text', models.CharField(max_length=1000)),
                ('money', models.CharField(choices=[('recalled', 'Its money had not been sent: it was recalled, and the books are as before.'), ('left', 'Its money had left, or was about to: nothing was changed.'), ('none', 'No payout of it waits here: nothing was changed.')], default='none', max_length=8)),
                ('opened_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('done_at', models.DateTimeField(null=True)),
                ('outcome', models.CharField(blank=True, default='', max_length=1000)),
                ('done_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('opened_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.AddConstraint(
            model_name='staff',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ('agent', 'lead', 'auditor', 'admin'))), name='staff_role_known'),
        ),
        migrations.AddConstraint(
            model_name='staff',
            constraint=models.CheckConstraint(condition=models.Q(('is_superuser', False)), name='staff_has_no_superuser'),
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
            model_name='brake',
            constraint=models.UniqueConstraint(condition=models.Q(('released_at', None)), fields=('target', 'tool'), name='one_brake_each'),
        ),
        migrations.AddConstraint(
            model_name='brake',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('target', 'tool'), ('tool__gt', '')), models.Q(('target__in', ['writes', 'answers']), ('tool', '')), _connector='OR'), name='a_brake_names_what_it_stops'),
        ),
        migrations.AddConstraint(
            model_name='brake',
            constraint=models.CheckConstraint(condition=models.Q(('reason__gt', '')), name='a_brake_has_a_reason'),
        ),
        migrations.AddConstraint(
            model_name='brake',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('released_at', None), ('released_by', None)), models.Q(('proposed_by__isnull', False), ('released_at__isnull', False), ('released_by__isnull', False), models.Q(('released_by', models.F('proposed_by')), _negated=True)), _connector='OR'), name='two_people_release'),
        ),
        migrations.AddConstraint(
            model_name='clearance',
            constraint=models.UniqueConstraint(fields=('staff', 'customer_id'), name='cleared_once'),
        ),
        migrations.AddConstraint(
            model_name='clearance',
            constraint=models.CheckConstraint(condition=models.Q(('staff', models.F('cleared_by')), _negated=True), name='nobody_clears_themself'),
        ),
        migrations.AddConstraint(
            model_name='clearance',
            constraint=models.CheckConstraint(condition=models.Q(('reason__gt', '')), name='a_clearance_has_a_reason'),
        ),
        migrations.AddConstraint(
            model_name='signature',
            constraint=models.CheckConstraint(condition=models.Q(('nonce__gt', ''), ('rp_id__gt', ''), ('signed__gt', '')), name='signed_something'),
        ),
        migrations.AddConstraint(
            model_name='signature',
            constraint=models.CheckConstraint(condition=models.Q(('authenticator_data__length__gte', 37), ('public_key__length__gt', 0), ('signature__length__gt', 0)), name='signature_is_whole'),
        ),
        migrations.AddField(
            model_name='withdrawal',
            name='staff',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='flag',
            index=models.Index(condition=models.Q(('cleared_at', None)), fields=['customer_id'], name='flag_standing'),
        ),
        migrations.AddConstraint(
            model_name='flag',
            constraint=models.CheckConstraint(condition=models.Q(('reason__gt', '')), name='a_flag_has_a_reason'),
        ),
        migrations.AddConstraint(
            model_name='flag',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('cleared_at', None), ('cleared_by', None)), models.Q(('cleared_at__isnull', False), ('cleared_by__isnull', False)), _connector='OR'), name='a_flag_is_cleared_by_somebody'),
        ),
        migrations.AddConstraint(
            model_name='macroedit',
            constraint=models.UniqueConstraint(fields=('macro', 'version'), name='one_next_version_of_a_macro'),
        ),
        migrations.AddConstraint(
            model_name='macroedit',
            constraint=models.CheckConstraint(condition=models.Q(('name__gt', ''), ('text__gt', '')), name='a_macro_has_a_name_and_a_text'),
        ),
        migrations.AddConstraint(
            model_name='macroedit',
            constraint=models.CheckConstraint(condition=models.Q(('version', 0), ('author__isnull', False), _connector='OR'), name='a_macro_is_edited_by_somebody'),
        ),
        migrations.AddConstraint(
            model_name='macroedit',
            constraint=models.CheckConstraint(condition=models.Q(('use__in', ['approve', 'lowered', 'deny', 'ask'])), name='macro_use_known'),
        ),
        migrations.AddIndex(
            model_name='note',
            index=models.Index(fields=['customer_id', '-at'], name='note_by_customer'),
        ),
        migrations.AddIndex(
            model_name='note',
            index=models.Index(condition=models.Q(('conversation_id__isnull', False)), fields=['conversation_id', '-at'], name='note_by_conversation'),
        ),
        migrations.AddConstraint(
            model_name='note',
            constraint=models.CheckConstraint(condition=models.Q(('text__gt', '')), name='a_note_says_something'),
        ),
        migrations.AddConstraint(
            model_name='participant',
            constraint=models.UniqueConstraint(fields=('conversation_id', 'staff'), name='participant_once'),
        ),
        migrations.AddConstraint(
            model_name='policyversion',
            constraint=models.CheckConstraint(condition=models.Q(('version', 1), ('proposed_by__isnull', False), _connector='OR'), name='a_policy_is_proposed_by_somebody'),
        ),
        migrations.AddConstraint(
            model_name='policyversion',
            constraint=models.CheckConstraint(condition=models.Q(('activated_by', models.F('proposed_by')), _negated=True), name='another_activates_a_policy'),
        ),
        migrations.AddConstraint(
            model_name='policyversion',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('activated_at', None), ('activated_by', None)), models.Q(('activated_at__isnull', False), models.Q(('version', 1), ('activated_by__isnull', False), _connector='OR')), _connector='OR'), name='a_policy_is_activated_by_somebody'),
        ),
        migrations.AddConstraint(
            model_name='policyversion',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('withdrawn_at', None), ('withdrawn_by', None)), models.Q(('activated_at', None), ('withdrawn_at__isnull', False), ('withdrawn_by__isnull', False)), _connector='OR'), name='a_withdrawn_policy_binds_nothing'),
        ),
        migrations.AddConstraint(
            model_name='reasonedit',
            constraint=models.UniqueConstraint(fields=('code', 'version'), name='one_next_version_of_a_reason'),
        ),
        migrations.AddConstraint(
            model_name='reasonedit',
            constraint=models.CheckConstraint(condition=models.Q(('label__gt', '')), name='a_reason_has_a_label'),
        ),
        migrations.AddConstraint(
            model_name='reasonedit',
            constraint=models.CheckConstraint(condition=models.Q(('version', 0), ('author__isnull', False), _connector='OR'), name='a_reason_is_edited_by_somebody'),
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
        migrations.AddIndex(
            model_name='request',
            index=models.Index(condition=models.Q(('state', 'approved')), fields=['execute_after'], name='request_ready'),
        ),
        migrations.AddIndex(
            model_name='request',
            index=models.Index(fields=['customer_id', '-created_at'], name='request_by_customer'),
        ),
        migrations.AddIndex(
            model_name='request',
            index=models.Index(fields=['conversation_id'], name='request_by_conversation'),
        ),
        migrations.AddIndex(
            model_name='request',
            index=models.Index(condition=models.Q(('is_decoy', True)), fields=['-created_at'], name='request_decoys'),
        ),
        migrations.AddIndex(
            model_name='request',
            index=models.Index(condition=models.Q(('decided_at__isnull', False)), fields=['decided_at'], name='request_decided'),
        ),
        migrations.AddIndex(
            model_name='request',
            index=models.Index(condition=models.Q(('replaces__gt', '')), fields=['replaces'], name='request_reissued'),
        ),
        migrations.AddIndex(
            model_name='request',
            index=models.Index(condition=models.Q(('state__in', ['executing', 'unknown'])), fields=['lease_until'], name='request_in_doubt'),
        ),
        migrations.AddConstraint(
            model_name='request',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ('pending', 'approved', 'executing', 'unknown')), models.Q(('order_id', ''), _negated=True)), fields=('order_id',), name='one_open_request_per_order'),
        ),
        migrations.AddConstraint(
            model_name='request',
            constraint=models.CheckConstraint(condition=models.Q(('lowered_from_minor', None), models.Q(('lowered_from_minor__gt', models.F('amount_minor')), ('revision__gt', 1)), _connector='OR'), name='lowered_means_less'),
        ),
        migrations.AddConstraint(
            model_name='request',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('reopened_at', None), ('reopened_by', None)), models.Q(('reopened_at__isnull', False), ('reopened_by__isnull', False), models.Q(('state', 'denied'), ('lowered_from_minor__isnull', False), _connector='OR')), _connector='OR'), name='what_was_denied_is_reopened'),
        ),
        migrations.AddConstraint(
            model_name='request',
            constraint=models.CheckConstraint(condition=models.Q(('approvals_needed__in', [1, 2])), name='one_or_two_approvals'),
        ),
        migrations.AddConstraint(
            model_name='request',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'pending'), _negated=True), ('execute_after__isnull', True), _connector='OR'), name='pending_is_not_scheduled'),
        ),
        migrations.AddConstraint(
            model_name='request',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['approved', 'executing']), _negated=True), models.Q(('decided_at__isnull', False), ('execute_after__isnull', False), ('execute_before__isnull', False)), _connector='OR'), name='approved_is_scheduled'),
        ),
        migrations.AddConstraint(
            model_name='request',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('entry_reference__gt', ''), ('state', 'executed')), models.Q(models.Q(('state', 'executed'), _negated=True), ('entry_reference', '')), _connector='OR'), name='executed_names_its_entry'),
        ),
        migrations.AddConstraint(
            model_name='request',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('customer_id__gt', ''), ('is_decoy', False)), models.Q(('customer_id', ''), ('execute_after', None), ('is_decoy', True), ('order_id', ''), ('state__in', ('pending', 'denied', 'expired', 'withdrawn'))), _connector='OR'), name='decoy_touches_nobody'),
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
            model_name='decision',
            index=models.Index(fields=['at'], name='decision_by_time'),
        ),
        migrations.AddConstraint(
            model_name='decision',
            constraint=models.UniqueConstraint(fields=('request', 'revision', 'staff', 'round'), name='nobody_decides_twice'),
        ),
        migrations.AddConstraint(
            model_name='decision',
            constraint=models.CheckConstraint(condition=models.Q(('staff_customer_id', ''), models.Q(('staff_customer_id', models.F('customer_id')), _negated=True), _connector='OR'), name='never_about_oneself'),
        ),
        migrations.AddConstraint(
            model_name='decision',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('verdict', 'deny'), _negated=True), ('reason_code__gt', ''), _connector='OR'), name='a_denial_has_a_reason'),
        ),
        migrations.AddConstraint(
            model_name='cardview',
            constraint=models.UniqueConstraint(fields=('request', 'revision', 'staff', 'card'), name='card_opened_once'),
        ),
        migrations.AddIndex(
            model_name='snooze',
            index=models.Index(fields=['staff', 'until'], name='snooze_by_staff'),
        ),
        migrations.AddConstraint(
            model_name='snooze',
            constraint=models.UniqueConstraint(fields=('request', 'staff'), name='snoozed_once_each'),
        ),
        migrations.AddConstraint(
            model_name='spotcheck',
            constraint=models.CheckConstraint(condition=models.Q(('outcome__in', ['fine', 'wrong'])), name='look_outcome_known'),
        ),
        migrations.AddConstraint(
            model_name='spotcheck',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('outcome', 'wrong'), _negated=True), ('note__gt', ''), _connector='OR'), name='what_is_wrong_is_said'),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(condition=models.Q(('done_at', None)), fields=['opened_at'], name='task_open'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('done_at', None), ('done_by', None), ('outcome', '')), models.Q(('done_at__isnull', False), ('done_by__isnull', False), ('outcome__gt', '')), _connector='OR'), name='a_done_task_says_what_was_done'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.UniqueConstraint(condition=models.Q(('done_at', None)), fields=('kind', 'reference'), name='one_open_task_each'),
        ),
    ]
