"""The books' rules in the schema: immutable transfers, totals kept by triggers, holds that end once,
and row-level security that shows a customer's scope that customer's rows alone."""

from django.db import migrations

TRANSFERS = """
ALTER TABLE ledger_transfer
    ADD CONSTRAINT transfer_debit_currency FOREIGN KEY (debit_id, currency) REFERENCES ledger_account (id, currency),
    ADD CONSTRAINT transfer_credit_currency FOREIGN KEY (credit_id, currency) REFERENCES ledger_account (id, currency);
ALTER TABLE ledger_hold
    ADD CONSTRAINT hold_currency FOREIGN KEY (account_id, currency) REFERENCES ledger_account (id, currency);

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_transfer
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entry
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER never_deleted BEFORE DELETE OR TRUNCATE ON ledger_hold
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Totals: only accounts that a check guards carry one, so nothing shared by customers is locked.
CREATE FUNCTION ledger_move() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
BEGIN
    UPDATE ledger_account SET balance_minor = balance_minor
            + CASE WHEN id = NEW.credit_id THEN NEW.amount_minor ELSE -NEW.amount_minor END
        WHERE id IN (NEW.debit_id, NEW.credit_id) AND kind IN ('order', 'gift_card');
    RETURN NULL;
END $$;
CREATE TRIGGER keep_totals AFTER INSERT ON ledger_transfer FOR EACH ROW EXECUTE FUNCTION ledger_move();

CREATE FUNCTION ledger_reserve() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
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
        UPDATE ledger_account SET held_minor = held_minor - OLD.amount_minor WHERE id = OLD.account_id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER keep_totals AFTER INSERT OR UPDATE ON ledger_hold FOR EACH ROW EXECUTE FUNCTION ledger_reserve();

-- The walls check whose row it is; these, whose accounts it touches, which its writer may not see.
CREATE FUNCTION ledger_own_accounts() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
DECLARE
    touched bigint[] := CASE TG_TABLE_NAME
        WHEN 'ledger_hold' THEN ARRAY[(to_jsonb(NEW) ->> 'account_id')::bigint]
        ELSE ARRAY[(to_jsonb(NEW) ->> 'debit_id')::bigint, (to_jsonb(NEW) ->> 'credit_id')::bigint] END;
BEGIN
    IF EXISTS (SELECT FROM ledger_account WHERE id = ANY (touched) AND kind <> 'opening'
               AND customer_id IS DISTINCT FROM NEW.customer_id) THEN
        RAISE EXCEPTION 'money stays within one customer''s accounts' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER own_accounts BEFORE INSERT ON ledger_transfer FOR EACH ROW EXECUTE FUNCTION ledger_own_accounts();
CREATE TRIGGER own_accounts BEFORE INSERT ON ledger_hold FOR EACH ROW EXECUTE FUNCTION ledger_own_accounts();

-- Only transfers and holds give an account its totals.
CREATE FUNCTION ledger_open() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.balance_minor <> 0 OR NEW.held_minor <> 0 THEN
        RAISE EXCEPTION 'an account begins empty' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER begins_empty BEFORE INSERT ON ledger_account FOR EACH ROW EXECUTE FUNCTION ledger_open();
"""
TRANSFERS_REVERSE = """
DROP TRIGGER begins_empty ON ledger_account;
DROP FUNCTION ledger_open();
DROP TRIGGER own_accounts ON ledger_hold;
DROP TRIGGER own_accounts ON ledger_transfer;
DROP FUNCTION ledger_own_accounts();
DROP TRIGGER keep_totals ON ledger_hold;
DROP FUNCTION ledger_reserve();
DROP TRIGGER keep_totals ON ledger_transfer;
DROP FUNCTION ledger_move();
DROP TRIGGER never_deleted ON ledger_hold;
DROP TRIGGER append_only ON ledger_entry;
DROP TRIGGER append_only ON ledger_transfer;
ALTER TABLE ledger_hold DROP CONSTRAINT hold_currency;
ALTER TABLE ledger_transfer DROP CONSTRAINT transfer_credit_currency, DROP CONSTRAINT transfer_debit_currency;
"""

OWNED = ("customer", "paymentmethod", "order", "account", "entry", "transfer", "hold")


def _wall(table: str) -> str:
    return f"""
ALTER TABLE ledger_{table} ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON ledger_{table} TO placet_customer
    USING (customer_id = current_setting('placet.customer_id', true))
    WITH CHECK (customer_id = current_setting('placet.customer_id', true));
CREATE POLICY all_rows ON ledger_{table} TO placet_staff USING (true) WITH CHECK (true);
"""


WALL = "".join(_wall(table) for table in OWNED)
WALL_REVERSE = "".join(
    f"DROP POLICY own ON ledger_{table}; DROP POLICY all_rows ON ledger_{table};"
    f"ALTER TABLE ledger_{table} DISABLE ROW LEVEL SECURITY;"
    for table in OWNED
)

# Whether a customer was disabled is all that the application may know of one without a scope.
DISABLED = """
CREATE FUNCTION ledger_is_disabled(wanted text) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = public AS
$$ SELECT EXISTS (SELECT FROM ledger_customer WHERE customer_id = wanted AND disabled_at IS NOT NULL) $$;
REVOKE ALL ON FUNCTION ledger_is_disabled(text) FROM PUBLIC;
"""
DISABLED_REVERSE = "DROP FUNCTION ledger_is_disabled(text);"


class Migration(migrations.Migration):
    dependencies = [("ledger", "0001_initial"), ("audit", "0002_append_only")]
    operations = [
        migrations.RunSQL(TRANSFERS, TRANSFERS_REVERSE),
        migrations.RunSQL(WALL, WALL_REVERSE),
        migrations.RunSQL(DISABLED, DISABLED_REVERSE),
    ]
