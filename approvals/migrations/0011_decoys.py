from django.db import migrations, models
from django.db.models import Q

# The shop's own scope places holds and may not read requests, so the check runs as the owner.
SQL = """
CREATE FUNCTION approvals_no_hold_of_a_decoy() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public AS $$
BEGIN
    IF EXISTS (SELECT FROM approvals_request WHERE reference = split_part(NEW.owner, '.', 1) AND is_decoy) THEN
        RAISE EXCEPTION 'a decoy holds nothing' USING ERRCODE = 'check_violation', CONSTRAINT = 'decoy_holds_nothing';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER no_hold_of_a_decoy BEFORE INSERT ON ledger_hold
    FOR EACH ROW EXECUTE FUNCTION approvals_no_hold_of_a_decoy();
"""
REVERSE = """
DROP TRIGGER no_hold_of_a_decoy ON ledger_hold;
DROP FUNCTION approvals_no_hold_of_a_decoy();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('approvals', '0010_outbox'),
        ('ledger', '0002_books'),
    ]

    operations = [
        migrations.AddField(
            model_name='request',
            name='is_decoy',
            field=models.BooleanField(default=False, help_text='Made up, to see whether reviewers read; see decoys.'),
        ),
        migrations.AddIndex(
            model_name='request',
            index=models.Index(condition=Q(('is_decoy', True)), fields=['-created_at'], name='request_decoys'),
        ),
        migrations.AddConstraint(
            model_name='request',
            constraint=models.CheckConstraint(
                condition=Q(is_decoy=False, customer_id__gt='')
                | Q(is_decoy=True, customer_id='', order_id='', execute_after=None,
                    state__in=('pending', 'denied', 'expired', 'withdrawn')),
                name='decoy_touches_nobody',
            ),
        ),
        migrations.RunSQL(SQL, REVERSE),
    ]
