-- The books: money moves within one currency and one customer, what moved is never changed, and the totals beside it
-- are kept by triggers alone.

CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_transfer
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entry
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER never_deleted BEFORE DELETE OR TRUNCATE ON ledger_hold
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- An account and its currency are referred to together, which the mapper cannot say (its own keys are left out there:
-- db_constraint=False). Made once, because making one reads the whole table.
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_constraint
                   WHERE conrelid = 'ledger_transfer'::regclass AND conname = 'transfer_debit_currency') THEN
        ALTER TABLE ledger_transfer ADD CONSTRAINT transfer_debit_currency
            FOREIGN KEY (debit_id, currency) REFERENCES ledger_account (id, currency);
    END IF;
    IF NOT EXISTS (SELECT FROM pg_constraint
                   WHERE conrelid = 'ledger_transfer'::regclass AND conname = 'transfer_credit_currency') THEN
        ALTER TABLE ledger_transfer ADD CONSTRAINT transfer_credit_currency
            FOREIGN KEY (credit_id, currency) REFERENCES ledger_account (id, currency);
    END IF;
    IF NOT EXISTS (SELECT FROM pg_constraint
                   WHERE conrelid = 'ledger_hold'::regclass AND conname = 'hold_currency') THEN
        ALTER TABLE ledger_hold ADD CONSTRAINT hold_currency
            FOREIGN KEY (account_id, currency) REFERENCES ledger_account (id, currency);
    END IF;
END $$;

-- Only transfers and holds give an account its totals.
CREATE OR REPLACE FUNCTION ledger_open() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.balance_minor <> 0 OR NEW.held_minor <> 0 THEN
        RAISE EXCEPTION 'an account begins empty' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER begins_empty BEFORE INSERT ON ledger_account FOR EACH ROW EXECUTE FUNCTION ledger_open();

-- The walls check whose row it is; this, whose accounts it touches, which its writer may not see.
-- By the keys of the accounts themselves: with a list of unknown length the whole table was read.
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
CREATE OR REPLACE TRIGGER own_accounts BEFORE INSERT ON ledger_transfer
    FOR EACH ROW EXECUTE FUNCTION ledger_own_accounts();
CREATE OR REPLACE TRIGGER own_accounts BEFORE INSERT ON ledger_hold
    FOR EACH ROW EXECUTE FUNCTION ledger_own_accounts();

-- Totals: only accounts that a check guards carry one, so nothing shared by customers is locked. The UPDATE locks the
-- account, and its check sees what others committed: two refunds at once cannot both take the same money.
-- An order's or a gift card's total may pass below what is held only through one of the kinds that state what is so
-- already; by how much is kept beside it, and shrinks as soon as it can. What leaves Placet gets its payout here.
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
CREATE OR REPLACE TRIGGER keep_totals AFTER INSERT ON ledger_transfer
    FOR EACH ROW EXECUTE FUNCTION ledger_move();

-- A hold begins as pending, ends once, and is part of its account's total meanwhile.
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
CREATE OR REPLACE TRIGGER keep_totals AFTER INSERT OR UPDATE ON ledger_hold
    FOR EACH ROW EXECUTE FUNCTION ledger_reserve();

-- A reversal moves back exactly what failed, was recalled, or was refunded outside and then was not.
CREATE OR REPLACE FUNCTION ledger_mirror() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM ledger_transfer t LEFT JOIN ledger_payout p ON p.transfer_id = t.id
        WHERE t.id = NEW.reverses_id AND (p.state IN ('failed', 'recalled') OR t.kind = 'external_refund')
          AND (t.debit_id, t.credit_id, t.amount_minor, t.currency, t.customer_id, t.order_id)
              = (NEW.credit_id, NEW.debit_id, NEW.amount_minor, NEW.currency, NEW.customer_id, NEW.order_id)) THEN
        RAISE EXCEPTION 'a reversal mirrors a transfer that failed or was recalled' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER mirror BEFORE INSERT ON ledger_transfer FOR EACH ROW WHEN (NEW.kind = 'reversal')
    EXECUTE FUNCTION ledger_mirror();
