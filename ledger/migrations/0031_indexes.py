import django.db.models.deletion
from django.db import migrations, models

from base.indexes import drop_prefix_indexes


# By the keys of the accounts themselves: with a list of unknown length the whole table was read.
OWN_ACCOUNTS = """
CREATE OR REPLACE FUNCTION ledger_own_accounts() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public AS $$
DECLARE
    others boolean;
BEGIN
    IF TG_TABLE_NAME = 'ledger_hold' THEN
        SELECT customer_id IS DISTINCT FROM NEW.customer_id INTO others FROM ledger_account
        WHERE id = NEW.account_id AND kind <> 'opening';
    ELSE
        SELECT bool_or(customer_id IS DISTINCT FROM NEW.customer_id) INTO others FROM ledger_account
        WHERE id IN (NEW.debit_id, NEW.credit_id) AND kind <> 'opening';
    END IF;
    IF others THEN
        RAISE EXCEPTION 'money stays within one customer''s accounts' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('ledger', '0030_entry_by_day'),
    ]

    operations = [
        migrations.AlterField(
            model_name='account',
            name='payment_method',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='ledger.paymentmethod'),
        ),
        migrations.AlterField(
            model_name='entry',
            name='customer',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='ledger.customer'),
        ),
        migrations.AlterField(
            model_name='hold',
            name='customer',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='ledger.customer'),
        ),
        migrations.AlterField(
            model_name='transfer',
            name='customer',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='ledger.customer'),
        ),
        migrations.RunSQL(OWN_ACCOUNTS, migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name='paymentmethod',
            index=models.Index(condition=models.Q(('last4__isnull', False)), fields=['last4', 'brand'], name='method_by_card'),
        ),
        drop_prefix_indexes('ledger'),
    ]
