-- A decoy, made up to see whether reviewers read, touches nobody's money.

-- The shop's own scope places holds and may not read requests, so the check runs as the owner.
CREATE OR REPLACE FUNCTION approvals_no_hold_of_a_decoy() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public AS $$
BEGIN
    IF EXISTS (SELECT FROM approvals_request WHERE reference = split_part(NEW.owner, '.', 1) AND is_decoy) THEN
        RAISE EXCEPTION 'a decoy holds nothing' USING ERRCODE = 'check_violation', CONSTRAINT = 'decoy_holds_nothing';
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER no_hold_of_a_decoy BEFORE INSERT ON ledger_hold
    FOR EACH ROW EXECUTE FUNCTION approvals_no_hold_of_a_decoy();
