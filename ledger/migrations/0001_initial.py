import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Customer',
            fields=[
                ('customer_id', models.CharField(max_length=200, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('email', models.CharField(max_length=320)),
                ('phone', models.CharField(max_length=40, null=True)),
                ('address', models.JSONField()),
                ('disabled_at', models.DateTimeField(null=True)),
                ('imported', models.JSONField(help_text="The shop's line as last imported.")),
                ('touched_at', models.DateTimeField(help_text='When Placet first wrote to this row.', null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Transfer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('capture', 'Capture'), ('refund', 'Refund'), ('opening', 'Opening'), ('reversal', 'Reversal'), ('external_refund', 'External Refund'), ('dispute', 'Dispute'), ('dispute_won', 'Dispute Won')], max_length=20)),
                ('amount_minor', models.BigIntegerField()),
                ('currency', models.CharField(max_length=3)),
                ('provider_reference', models.CharField(max_length=200, null=True)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='Product',
            fields=[
                ('product_id', models.CharField(max_length=200, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('description', models.TextField(null=True)),
                ('items', models.JSONField(help_text='[{item_id, options, available, price_minor}]')),
                ('imported', models.JSONField()),
            ],
        ),
        migrations.CreateModel(
            name='Order',
            fields=[
                ('order_id', models.CharField(max_length=200, primary_key=True, serialize=False)),
                ('currency', models.CharField(max_length=3)),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('pending_items_changed', 'Pending Items Changed'), ('processed', 'Processed'), ('delivered', 'Delivered'), ('cancelled', 'Cancelled'), ('return_requested', 'Return Requested'), ('exchange_requested', 'Exchange Requested')], max_length=24)),
                ('address', models.JSONField()),
                ('items', models.JSONField(help_text='[{item_id, product_id, name, options, price_minor}]')),
                ('tracking', models.JSONField()),
                ('note', models.TextField(null=True)),
                ('placed_at', models.CharField(max_length=40, null=True)),
                ('delivered_at', models.CharField(max_length=40, null=True)),
                ('cancel_reason', models.CharField(max_length=200, null=True)),
                ('returning', models.JSONField(help_text='{item_ids, payment_method_id}', null=True)),
                ('exchanging', models.JSONField(help_text='{item_ids, new_item_ids, payment_method_id, price_difference_minor}', null=True)),
                ('imported', models.JSONField()),
                ('touched_at', models.DateTimeField(null=True)),
                ('frozen', models.BooleanField(db_default=False, default=False, help_text='A dispute of its payment is open.')),
                ('customer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='orders', to='ledger.customer')),
            ],
        ),
        migrations.CreateModel(
            name='Entry',
            fields=[
                ('reference', models.CharField(max_length=16, primary_key=True, serialize=False)),
                ('key', models.CharField(help_text="Idempotency key; never the model's choice.", max_length=200, unique=True)),
                ('tool', models.CharField(max_length=100)),
                ('amount_minor', models.BigIntegerField(help_text='Money moved or promised, either way.')),
                ('currency', models.CharField(max_length=3)),
                ('plan', models.JSONField(help_text='What was done, as previewed.')),
                ('request_reference', models.CharField(blank=True, default='', max_length=16)),
                ('credential_id', models.CharField(max_length=40)),
                ('conversation_id', models.UUIDField(help_text='Where it was asked for.', null=True)),
                ('untrusted', models.BooleanField(db_default=False, default=False, help_text='Asked for in a conversation that held untrusted text.')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('customer', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='ledger.customer')),
                ('order', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='ledger.order')),
            ],
        ),
        migrations.CreateModel(
            name='Dispute',
            fields=[
                ('reference', models.CharField(help_text="The provider's.", max_length=200, primary_key=True, serialize=False)),
                ('amount_minor', models.BigIntegerField()),
                ('currency', models.CharField(max_length=3)),
                ('state', models.CharField(choices=[('open', 'Open'), ('won', 'Won'), ('lost', 'Lost')], max_length=4)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('customer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='ledger.customer')),
                ('order', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='disputes', to='ledger.order')),
            ],
        ),
        migrations.CreateModel(
            name='PaymentMethod',
            fields=[
                ('payment_method_id', models.CharField(max_length=200, primary_key=True, serialize=False)),
                ('position', models.PositiveSmallIntegerField(help_text="Its place in the shop's list.")),
                ('kind', models.CharField(choices=[('card', 'Card'), ('paypal', 'Paypal'), ('gift_card', 'Gift Card')], max_length=10)),
                ('brand', models.CharField(max_length=60, null=True)),
                ('last4', models.CharField(max_length=4, null=True)),
                ('currency', models.CharField(max_length=3, null=True)),
                ('customer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='payment_methods', to='ledger.customer')),
            ],
        ),
        migrations.CreateModel(
            name='Account',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('external', 'External'), ('gift_card', 'Gift Card'), ('order', 'Order'), ('opening', 'Opening')], max_length=10)),
                ('currency', models.CharField(max_length=3)),
                ('balance_minor', models.BigIntegerField(default=0, help_text='Kept by a trigger; zero for external and opening.')),
                ('held_minor', models.BigIntegerField(default=0, help_text='Pending holds on it, kept by a trigger.')),
                ('over_refunded_minor', models.BigIntegerField(db_default=0, default=0, help_text='By how much what happened outside Placet took it below what is held; kept by a trigger.')),
                ('customer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='ledger.customer')),
                ('order', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='account', to='ledger.order')),
                ('payment_method', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='ledger.paymentmethod')),
            ],
        ),
        migrations.CreateModel(
            name='Payout',
            fields=[
                ('transfer', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, serialize=False, to='ledger.transfer')),
                ('key', models.CharField(help_text="The provider's idempotency key for it.", max_length=60, unique=True)),
                ('state', models.CharField(choices=[('pending', 'Not sent yet'), ('unknown', 'Outcome not known'), ('sent', 'Sent to the bank'), ('settled', 'Settled'), ('failed', 'Failed'), ('outside', 'Paid by the shop itself'), ('recalled', 'Recalled before it was sent')], db_default='pending', max_length=10)),
                ('provider', models.CharField(db_default='', help_text='Who was told; fixed with the first attempt.', max_length=10)),
                ('source', models.CharField(db_default='', help_text='The payment there that is refunded, or whose card is charged.', max_length=200)),
                ('provider_reference', models.CharField(max_length=200, null=True, unique=True)),
                ('attempts', models.PositiveIntegerField(db_default=0, help_text='Also the fence: an older attempt writes nothing.')),
                ('next_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), help_text='When it is sent, or looked up, next.')),
                ('lease_until', models.DateTimeField(null=True)),
                ('first_sent_at', models.DateTimeField(null=True)),
                ('error_code', models.CharField(db_default='', max_length=60)),
                ('handled_by', models.CharField(db_default='', help_text='Who took care of it after it failed.', max_length=150)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('changed_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.AddField(
            model_name='transfer',
            name='credit',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='credits', to='ledger.account'),
        ),
        migrations.AddField(
            model_name='transfer',
            name='customer',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='ledger.customer'),
        ),
        migrations.AddField(
            model_name='transfer',
            name='debit',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='debits', to='ledger.account'),
        ),
        migrations.AddField(
            model_name='transfer',
            name='entry',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='transfers', to='ledger.entry'),
        ),
        migrations.AddField(
            model_name='transfer',
            name='order',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='transfers', to='ledger.order'),
        ),
        migrations.AddField(
            model_name='transfer',
            name='payment_method',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='ledger.paymentmethod'),
        ),
        migrations.AddField(
            model_name='transfer',
            name='reverses',
            field=models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reversal', to='ledger.transfer'),
        ),
        migrations.CreateModel(
            name='ProviderEvent',
            fields=[
                ('event_id', models.CharField(max_length=200, primary_key=True, serialize=False)),
                ('type', models.CharField(max_length=100)),
                ('object_id', models.CharField(max_length=200)),
                ('status', models.CharField(max_length=40)),
                ('outcome', models.CharField(help_text='What came of it: applied, known, unmatched or ignored.', max_length=20)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'indexes': [models.Index(fields=['object_id'], name='provider_event_of_object')],
            },
        ),
        migrations.CreateModel(
            name='Hold',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('owner', models.CharField(help_text='Reference of the request or entry it belongs to.', max_length=16)),
                ('amount_minor', models.BigIntegerField()),
                ('currency', models.CharField(max_length=3)),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('posted', 'Posted'), ('voided', 'Voided')], default='pending', max_length=8)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('ended_at', models.DateTimeField(null=True)),
                ('account', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='holds', to='ledger.account')),
                ('customer', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='ledger.customer')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('amount_minor__gt', 0)), name='hold_reserves_something'), models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'posted', 'voided'])), name='hold_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('state', 'pending')), models.Q(models.Q(('state', 'pending'), _negated=True), ('ended_at__isnull', False)), _connector='OR'), name='hold_ended_once'), models.UniqueConstraint(fields=('owner', 'account'), name='one_hold_per_owner_and_account')],
            },
        ),
        migrations.AddConstraint(
            model_name='order',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['pending', 'pending_items_changed', 'processed', 'delivered', 'cancelled', 'return_requested', 'exchange_requested'])), name='order_status_known'),
        ),
        migrations.AddConstraint(
            model_name='order',
            constraint=models.UniqueConstraint(fields=('order_id', 'customer'), name='order_of_customer'),
        ),
        migrations.AddIndex(
            model_name='entry',
            index=models.Index(fields=['customer', '-at'], name='entry_by_customer'),
        ),
        migrations.AddIndex(
            model_name='entry',
            index=models.Index(fields=['at'], name='entry_by_day'),
        ),
        migrations.AddConstraint(
            model_name='entry',
            constraint=models.CheckConstraint(condition=models.Q(('amount_minor__gte', 0)), name='entry_amount_not_negative'),
        ),
        migrations.AddConstraint(
            model_name='dispute',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['open', 'won', 'lost'])), name='dispute_state_known'),
        ),
        migrations.AddIndex(
            model_name='paymentmethod',
            index=models.Index(condition=models.Q(('last4__isnull', False)), fields=['last4', 'brand'], name='method_by_card'),
        ),
        migrations.AddConstraint(
            model_name='paymentmethod',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind', 'gift_card'), _negated=True), ('currency__isnull', False), _connector='OR'), name='gift_card_has_currency'),
        ),
        migrations.AddConstraint(
            model_name='paymentmethod',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['card', 'paypal', 'gift_card'])), name='method_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.UniqueConstraint(fields=('id', 'currency'), name='account_currency'),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.UniqueConstraint(condition=models.Q(('payment_method__isnull', False)), fields=('payment_method', 'currency'), name='one_account_per_method_and_currency'),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.UniqueConstraint(condition=models.Q(('kind', 'opening')), fields=('currency',), name='one_opening_account_per_currency'),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['external', 'opening']), ('balance_minor__gte', django.db.models.expressions.CombinedExpression(models.F('held_minor'), '-', models.F('over_refunded_minor'))), _connector='OR'), name='never_below_what_is_held'),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.CheckConstraint(condition=models.Q(('held_minor__gte', 0)), name='held_not_negative'),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.CheckConstraint(condition=models.Q(('over_refunded_minor__gte', 0)), name='over_refunded_not_negative'),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('customer__isnull', True), ('kind', 'opening'), ('order__isnull', True), ('payment_method__isnull', True)), models.Q(('customer__isnull', False), ('kind', 'order'), ('order__isnull', False), ('payment_method__isnull', True)), models.Q(('customer__isnull', False), ('kind__in', ['external', 'gift_card']), ('order__isnull', True), ('payment_method__isnull', False)), _connector='OR'), name='account_owner_fits_kind'),
        ),
        migrations.AddField(
            model_name='payout',
            name='customer',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='ledger.customer'),
        ),
        migrations.AddIndex(
            model_name='transfer',
            index=models.Index(condition=models.Q(('provider_reference__isnull', False)), fields=['provider_reference'], name='transfer_by_provider'),
        ),
        migrations.AddConstraint(
            model_name='transfer',
            constraint=models.CheckConstraint(condition=models.Q(('amount_minor__gt', 0)), name='transfer_moves_something'),
        ),
        migrations.AddConstraint(
            model_name='transfer',
            constraint=models.CheckConstraint(condition=models.Q(('debit', models.F('credit')), _negated=True), name='transfer_between_two_accounts'),
        ),
        migrations.AddConstraint(
            model_name='transfer',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind', 'opening'), ('order__isnull', True)), models.Q(('kind__in', ['capture', 'refund', 'reversal', 'external_refund', 'dispute', 'dispute_won']), ('order__isnull', False)), _connector='OR'), name='transfer_kind_fits_order'),
        ),
        migrations.AddConstraint(
            model_name='transfer',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('entry__isnull', True), ('kind', 'reversal'), ('reverses__isnull', False)), models.Q(models.Q(('kind', 'reversal'), _negated=True), ('reverses__isnull', True)), _connector='OR'), name='transfer_reverses_another'),
        ),
        migrations.AddConstraint(
            model_name='transfer',
            constraint=models.UniqueConstraint(condition=models.Q(('kind__in', ['external_refund', 'dispute', 'dispute_won'])), fields=('kind', 'provider_reference'), name='reported_once'),
        ),
        migrations.AddIndex(
            model_name='payout',
            index=models.Index(condition=models.Q(('state__in', ['pending', 'unknown', 'sent'])), fields=['next_at'], name='payout_due'),
        ),
        migrations.AddIndex(
            model_name='payout',
            index=models.Index(fields=['state', '-transfer'], name='payout_by_state'),
        ),
        migrations.AddConstraint(
            model_name='payout',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'unknown', 'sent', 'settled', 'failed', 'outside', 'recalled'])), name='payout_state_known'),
        ),
        migrations.AddConstraint(
            model_name='payout',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'failed', 'outside', 'recalled']), ('provider__gt', ''), _connector='OR'), name='payout_sent_by_someone'),
        ),
    ]
