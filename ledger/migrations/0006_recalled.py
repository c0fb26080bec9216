"""Payouts that are recalled before they are sent: a final state, reversed like one that failed; and new payouts
wait as long as the operator says before they are due."""

from django.db import migrations, models

MIRROR = """
CREATE OR REPLACE FUNCTION ledger_mirror() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM ledger_transfer t LEFT JOIN ledger_payout p ON p.transfer_id = t.id
        WHERE t.id = NEW.reverses_id AND (p.state IN ({reversed}) OR t.kind = 'external_refund')
          AND (t.debit_id, t.credit_id, t.amount_minor, t.currency, t.customer_id, t.order_id)
              = (NEW.credit_id, NEW.debit_id, NEW.amount_minor, NEW.currency, NEW.customer_id, NEW.order_id)) THEN
        RAISE EXCEPTION 'a reversal mirrors a transfer that {why}' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
"""
STEP = """
CREATE OR REPLACE FUNCTION ledger_payout_step() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.transfer_id, NEW.customer_id, NEW.key, NEW.at)
            IS DISTINCT FROM (OLD.transfer_id, OLD.customer_id, OLD.key, OLD.at)
       OR OLD.source <> '' AND NEW.source <> OLD.source
       OR OLD.provider_reference <> NEW.provider_reference
       OR OLD.state <> NEW.state AND (OLD.state, NEW.state) NOT IN (
            ('pending', 'unknown'), ('pending', 'sent'), ('pending', 'settled'), ('pending', 'failed'),
            ('pending', 'outside'), ('unknown', 'pending'), ('unknown', 'sent'), ('unknown', 'settled'),
            ('unknown', 'failed'), ('sent', 'settled'), ('sent', 'failed'), ('settled', 'failed'){more}) THEN
        RAISE EXCEPTION 'a payout only moves forward' USING ERRCODE = 'check_violation';
    END IF;{never}
    NEW.changed_at := CASE WHEN NEW.state <> OLD.state THEN now() ELSE OLD.changed_at END;
    RETURN NEW;
END $$;
"""
NEVER = """
    IF NEW.state = 'recalled' AND NEW.attempts > 0 THEN
        RAISE EXCEPTION 'what was attempted is not recalled' USING ERRCODE = 'check_violation';
    END IF;"""
DUE = """
DROP FUNCTION ledger_due_payouts({before});
CREATE FUNCTION ledger_due_payouts({after}) RETURNS TABLE (transfer_id bigint, customer_id text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public AS
$$ SELECT p.transfer_id, p.customer_id FROM ledger_payout p
   WHERE p.state IN ('pending', 'unknown', 'sent') AND p.next_at <= statement_timestamp()
     AND (p.lease_until IS NULL OR p.lease_until <= statement_timestamp()){ripe}
   ORDER BY p.next_at LIMIT most $$;
REVOKE ALL ON FUNCTION ledger_due_payouts({types}) FROM PUBLIC;
"""
RIPE = """
     AND (p.attempts > 0 OR p.at <= statement_timestamp() - make_interval(secs => delay_seconds))"""

FORWARD = (
    MIRROR.format(reversed="'failed', 'recalled'", why="failed or was recalled"),
    STEP.format(more=", ('pending', 'recalled')", never=NEVER),
    DUE.format(before="integer", after="most integer, delay_seconds integer", types="integer, integer", ripe=RIPE),
)
BACKWARD = (
    MIRROR.format(reversed="'failed'", why="failed"),
    STEP.format(more="", never=""),
    DUE.format(before="integer, integer", after="most integer", types="integer", ripe=""),
)


class Migration(migrations.Migration):
    dependencies = [("ledger", "0005_entry_origin")]
    operations = [
        migrations.RemoveConstraint(model_name="payout", name="payout_state_known"),
        migrations.RemoveConstraint(model_name="payout", name="payout_sent_by_someone"),
        migrations.AlterField(
            model_name="payout",
            name="state",
            field=models.CharField(
                choices=[
                    ("pending", "Not sent yet"), ("unknown", "Outcome not known"), ("sent", "Sent to the bank"),
                    ("settled", "Settled"), ("failed", "Failed"), ("outside", "Paid by the shop itself"),
                    ("recalled", "Recalled before it was sent"),
                ],
                db_default="pending",
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            model_name="payout",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("state__in", ["pending", "unknown", "sent", "settled", "failed", "outside", "recalled"])
                ),
                name="payout_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="payout",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("state__in", ["pending", "failed", "outside", "recalled"]), ("provider__gt", ""), _connector="OR"
                ),
                name="payout_sent_by_someone",
            ),
        ),
        *(migrations.RunSQL(forward, backward) for forward, backward in zip(FORWARD, BACKWARD)),
    ]
