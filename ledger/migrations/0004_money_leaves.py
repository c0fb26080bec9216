"""The payment provider's side in the schema: an instruction for every transfer that leaves, states that only
move forward, reversals that mirror what failed, and totals that give way to what happened outside Placet."""

from django.db import migrations

# An order's or a gift card's total may pass below what is held only through one of the kinds that state what
# is so already; by how much is kept beside it, and shrinks as soon as it can.
TOTALS = """
CREATE OR REPLACE FUNCTION ledger_move() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
DECLARE
    is_so boolean := NEW.kind IN ('reversal', 'external_refund', 'dispute', 'dispute_won');
BEGIN
    UPDATE ledger_account SET
            balance_minor = balance_minor
                + CASE WHEN id = NEW.credit_id THEN NEW.amount_minor ELSE -NEW.amount_minor END,
            over_refunded_minor = greatest(0, least(
                CASE WHEN is_so THEN 9223372036854775807 ELSE over_refunded_minor END,
                held_minor - balance_minor
                    - CASE WHEN id = NEW.credit_id THEN NEW.amount_minor ELSE -NEW.amount_minor END))
        WHERE id IN (NEW.debit_id, NEW.credit_id) AND kind IN ('order', 'gift_card');
    IF NEW.entry_id IS NOT NULL THEN
        INSERT INTO ledger_payout (transfer_id, customer_id, key)
            SELECT NEW.id, NEW.customer_id, NEW.id || '-' || NEW.entry_id
            FROM ledger_account WHERE id IN (NEW.debit_id, NEW.credit_id) AND kind = 'external';
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION ledger_reserve() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.state <> 'pending' THEN
            RAISE EXCEPTION 'a hold begins as pending' USING ERRCODE = 'check_violation';
        END IF;
        UPDATE ledger_account SET held_minor = held_minor + NEW.amount_minor WHERE id = NEW.account_id;
    ELSE
        IF OLD.state <> 'pending' OR NEW.state = 'pending'
           OR (NEW.owner, NEW.account_id, NEW.customer_id, NEW.amount_minor, NEW.currency)
              IS DISTINCT FROM (OLD.owner, OLD.account_id, OLD.customer_id, OLD.amount_minor, OLD.currency) THEN
            RAISE EXCEPTION 'a hold ends once and never changes otherwise' USING ERRCODE = 'check_violation';
        END IF;
        UPDATE ledger_account SET held_minor = held_minor - OLD.amount_minor,
                over_refunded_minor = greatest(0, least(over_refunded_minor,
                                                        held_minor - OLD.amount_minor - balance_minor))
            WHERE id = OLD.account_id;
    END IF;
    RETURN NULL;
END $$;
"""

REVERSALS = """
CREATE FUNCTION ledger_mirror() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM ledger_transfer t LEFT JOIN ledger_payout p ON p.transfer_id = t.id
        WHERE t.id = NEW.reverses_id AND (p.state = 'failed' OR t.kind = 'external_refund')
          AND (t.debit_id, t.credit_id, t.amount_minor, t.currency, t.customer_id, t.order_id)
              = (NEW.credit_id, NEW.debit_id, NEW.amount_minor, NEW.currency, NEW.customer_id, NEW.order_id)) THEN
        RAISE EXCEPTION 'a reversal mirrors a transfer that failed' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER mirror BEFORE INSERT ON ledger_transfer FOR EACH ROW WHEN (NEW.kind = 'reversal')
    EXECUTE FUNCTION ledger_mirror();
-- What a customer's scope may write is what Placet does; what happened outside is the staff scope's to record.
CREATE POLICY done_here ON ledger_transfer AS RESTRICTIVE FOR INSERT TO placet_customer
    WITH CHECK (kind NOT IN ('external_refund', 'dispute', 'dispute_won'));
"""
REVERSALS_REVERSE = """
DROP POLICY done_here ON ledger_transfer;
DROP TRIGGER mirror ON ledger_transfer;
DROP FUNCTION ledger_mirror();
"""

PAYOUTS = """
CREATE FUNCTION ledger_payout_step() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.transfer_id, NEW.customer_id, NEW.key, NEW.at)
            IS DISTINCT FROM (OLD.transfer_id, OLD.customer_id, OLD.key, OLD.at)
       OR OLD.source <> '' AND NEW.source <> OLD.source
       OR OLD.provider_reference <> NEW.provider_reference
       OR OLD.state <> NEW.state AND (OLD.state, NEW.state) NOT IN (
            ('pending', 'unknown'), ('pending', 'sent'), ('pending', 'settled'), ('pending', 'failed'),
            ('pending', 'outside'), ('unknown', 'pending'), ('unknown', 'sent'), ('unknown', 'settled'),
            ('unknown', 'failed'), ('sent', 'settled'), ('sent', 'failed'), ('settled', 'failed')) THEN
        RAISE EXCEPTION 'a payout only moves forward' USING ERRCODE = 'check_violation';
    END IF;
    NEW.changed_at := CASE WHEN NEW.state <> OLD.state THEN now() ELSE OLD.changed_at END;
    RETURN NEW;
END $$;
CREATE TRIGGER forward BEFORE UPDATE ON ledger_payout FOR EACH ROW EXECUTE FUNCTION ledger_payout_step();
CREATE TRIGGER never_deleted BEFORE DELETE OR TRUNCATE ON ledger_payout
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER never_deleted BEFORE DELETE OR TRUNCATE ON ledger_dispute
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_providerevent
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- A worker learns what is due and whose it is; the rest it sees in that customer's scope alone.
CREATE FUNCTION ledger_due_payouts(most integer) RETURNS TABLE (transfer_id bigint, customer_id text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public AS
$$ SELECT p.transfer_id, p.customer_id FROM ledger_payout p
   WHERE p.state IN ('pending', 'unknown', 'sent') AND p.next_at <= statement_timestamp()
     AND (p.lease_until IS NULL OR p.lease_until <= statement_timestamp())
   ORDER BY p.next_at LIMIT most $$;
REVOKE ALL ON FUNCTION ledger_due_payouts(integer) FROM PUBLIC;
"""
PAYOUTS_REVERSE = """
DROP FUNCTION ledger_due_payouts(integer);
DROP TRIGGER append_only ON ledger_providerevent;
DROP TRIGGER never_deleted ON ledger_dispute;
DROP TRIGGER never_deleted ON ledger_payout;
DROP TRIGGER forward ON ledger_payout;
DROP FUNCTION ledger_payout_step();
"""

WALL = """
ALTER TABLE ledger_payout ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON ledger_payout TO placet_customer
    USING (customer_id = current_setting('placet.customer_id', true))
    WITH CHECK (customer_id = current_setting('placet.customer_id', true));
CREATE POLICY all_rows ON ledger_payout TO placet_staff USING (true) WITH CHECK (true);
ALTER TABLE ledger_dispute ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON ledger_dispute TO placet_customer
    USING (customer_id = current_setting('placet.customer_id', true));
CREATE POLICY all_rows ON ledger_dispute TO placet_staff USING (true) WITH CHECK (true);
"""
WALL_REVERSE = """
DROP POLICY all_rows ON ledger_dispute;
DROP POLICY own ON ledger_dispute;
ALTER TABLE ledger_dispute DISABLE ROW LEVEL SECURITY;
DROP POLICY all_rows ON ledger_payout;
DROP POLICY own ON ledger_payout;
ALTER TABLE ledger_payout DISABLE ROW LEVEL SECURITY;
"""


class Migration(migrations.Migration):
    dependencies = [("ledger", "0003_payouts")]
    operations = [
        migrations.RunSQL(TOTALS, migrations.RunSQL.noop),
        migrations.RunSQL(REVERSALS, REVERSALS_REVERSE),
        migrations.RunSQL(PAYOUTS, PAYOUTS_REVERSE),
        migrations.RunSQL(WALL, WALL_REVERSE),
    ]
