-- The payment provider's side: a payout's state only moves forward, and what the provider reported stays.

CREATE OR REPLACE TRIGGER never_deleted BEFORE DELETE OR TRUNCATE ON ledger_payout
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER never_deleted BEFORE DELETE OR TRUNCATE ON ledger_dispute
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_providerevent
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- What was attempted may have reached the provider, so it is never recalled.
CREATE OR REPLACE FUNCTION ledger_payout_step() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.transfer_id, NEW.customer_id, NEW.key, NEW.at)
            IS DISTINCT FROM (OLD.transfer_id, OLD.customer_id, OLD.key, OLD.at)
       OR OLD.source <> '' AND NEW.source <> OLD.source
       OR OLD.provider_reference <> NEW.provider_reference
       OR OLD.state <> NEW.state AND (OLD.state, NEW.state) NOT IN (
            ('pending', 'unknown'), ('pending', 'sent'), ('pending', 'settled'), ('pending', 'failed'),
            ('pending', 'outside'), ('unknown', 'pending'), ('unknown', 'sent'), ('unknown', 'settled'),
            ('unknown', 'failed'), ('sent', 'settled'), ('sent', 'failed'), ('settled', 'failed'), ('pending', 'recalled')) THEN
        RAISE EXCEPTION 'a payout only moves forward' USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.state = 'recalled' AND NEW.attempts > 0 THEN
        RAISE EXCEPTION 'what was attempted is not recalled' USING ERRCODE = 'check_violation';
    END IF;
    NEW.changed_at := CASE WHEN NEW.state <> OLD.state THEN now() ELSE OLD.changed_at END;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER forward BEFORE UPDATE ON ledger_payout FOR EACH ROW EXECUTE FUNCTION ledger_payout_step();

-- A worker learns what is due and whose it is; the rest it sees in that customer's scope alone. A payout that was not
-- attempted yet waits as long as the operator says, so that it can be recalled.
CREATE OR REPLACE FUNCTION ledger_due_payouts(most integer, delay_seconds integer)
    RETURNS TABLE (transfer_id bigint, customer_id text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public AS
$$ SELECT p.transfer_id, p.customer_id FROM ledger_payout p
   WHERE p.state IN ('pending', 'unknown', 'sent') AND p.next_at <= statement_timestamp()
     AND (p.lease_until IS NULL OR p.lease_until <= statement_timestamp())
     AND (p.attempts > 0 OR p.at <= statement_timestamp() - make_interval(secs => delay_seconds))
   ORDER BY p.next_at LIMIT most $$;
REVOKE ALL ON FUNCTION ledger_due_payouts(integer, integer) FROM PUBLIC;
