-- Row-level security: a customer's scope sees and writes that customer's rows alone, the staff's scope those of all.
-- The scopes are roles that the application puts on for one transaction; without one it may read none of these tables.

ALTER TABLE ledger_customer ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own ON ledger_customer;
CREATE POLICY own ON ledger_customer TO placet_customer
    USING (customer_id = current_setting('placet.customer_id', true))
    WITH CHECK (customer_id = current_setting('placet.customer_id', true));
DROP POLICY IF EXISTS all_rows ON ledger_customer;
CREATE POLICY all_rows ON ledger_customer TO placet_staff USING (true) WITH CHECK (true);

ALTER TABLE ledger_paymentmethod ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own ON ledger_paymentmethod;
CREATE POLICY own ON ledger_paymentmethod TO placet_customer
    USING (customer_id = current_setting('placet.customer_id', true))
    WITH CHECK (customer_id = current_setting('placet.customer_id', true));
DROP POLICY IF EXISTS all_rows ON ledger_paymentmethod;
CREATE POLICY all_rows ON ledger_paymentmethod TO placet_staff USING (true) WITH CHECK (true);

ALTER TABLE ledger_order ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own ON ledger_order;
CREATE POLICY own ON ledger_order TO placet_customer
    USING (customer_id = current_setting('placet.customer_id', true))
    WITH CHECK (customer_id = current_setting('placet.customer_id', true));
DROP POLICY IF EXISTS all_rows ON ledger_order;
CREATE POLICY all_rows ON ledger_order TO placet_staff USING (true) WITH CHECK (true);

ALTER TABLE ledger_account ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own ON ledger_account;
CREATE POLICY own ON ledger_account TO placet_customer
    USING (customer_id = current_setting('placet.customer_id', true))
    WITH CHECK (customer_id = current_setting('placet.customer_id', true));
DROP POLICY IF EXISTS all_rows ON ledger_account;
CREATE POLICY all_rows ON ledger_account TO placet_staff USING (true) WITH CHECK (true);

ALTER TABLE ledger_entry ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own ON ledger_entry;
CREATE POLICY own ON ledger_entry TO placet_customer
    USING (customer_id = current_setting('placet.customer_id', true))
    WITH CHECK (customer_id = current_setting('placet.customer_id', true));
DROP POLICY IF EXISTS all_rows ON ledger_entry;
CREATE POLICY all_rows ON ledger_entry TO placet_staff USING (true) WITH CHECK (true);

ALTER TABLE ledger_transfer ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own ON ledger_transfer;
CREATE POLICY own ON ledger_transfer TO placet_customer
    USING (customer_id = current_setting('placet.customer_id', true))
    WITH CHECK (customer_id = current_setting('placet.customer_id', true));
DROP POLICY IF EXISTS all_rows ON ledger_transfer;
CREATE POLICY all_rows ON ledger_transfer TO placet_staff USING (true) WITH CHECK (true);

ALTER TABLE ledger_hold ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own ON ledger_hold;
CREATE POLICY own ON ledger_hold TO placet_customer
    USING (customer_id = current_setting('placet.customer_id', true))
    WITH CHECK (customer_id = current_setting('placet.customer_id', true));
DROP POLICY IF EXISTS all_rows ON ledger_hold;
CREATE POLICY all_rows ON ledger_hold TO placet_staff USING (true) WITH CHECK (true);

ALTER TABLE ledger_payout ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own ON ledger_payout;
CREATE POLICY own ON ledger_payout TO placet_customer
    USING (customer_id = current_setting('placet.customer_id', true))
    WITH CHECK (customer_id = current_setting('placet.customer_id', true));
DROP POLICY IF EXISTS all_rows ON ledger_payout;
CREATE POLICY all_rows ON ledger_payout TO placet_staff USING (true) WITH CHECK (true);

-- Customers open disputes with their bank: Placet only records them, in the staff's scope.
ALTER TABLE ledger_dispute ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own ON ledger_dispute;
CREATE POLICY own ON ledger_dispute TO placet_customer
    USING (customer_id = current_setting('placet.customer_id', true));
DROP POLICY IF EXISTS all_rows ON ledger_dispute;
CREATE POLICY all_rows ON ledger_dispute TO placet_staff USING (true) WITH CHECK (true);

-- What a customer's scope may write is what Placet does; what happened outside is the staff scope's to record.
DROP POLICY IF EXISTS done_here ON ledger_transfer;
CREATE POLICY done_here ON ledger_transfer AS RESTRICTIVE FOR INSERT TO placet_customer
    WITH CHECK (kind NOT IN ('external_refund', 'dispute', 'dispute_won'));

-- Whether a customer was disabled is all that the application may know of one without a scope.
CREATE OR REPLACE FUNCTION ledger_is_disabled(wanted text) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = public AS
$$ SELECT EXISTS (SELECT FROM ledger_customer WHERE customer_id = wanted AND disabled_at IS NOT NULL) $$;
REVOKE ALL ON FUNCTION ledger_is_disabled(text) FROM PUBLIC;
