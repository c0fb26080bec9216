-- A policy version is proposed, then activated or withdrawn once, and never changes otherwise.

CREATE OR REPLACE TRIGGER never_deleted BEFORE DELETE OR TRUNCATE ON approvals_policyversion
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE OR REPLACE FUNCTION approvals_policy_is_for_ever() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.activated_at IS NOT NULL OR OLD.withdrawn_at IS NOT NULL OR num_nonnulls(NEW.activated_at, NEW.withdrawn_at) <> 1
       OR (NEW.version, NEW.document, NEW.digest, NEW.proposed_by_id, NEW.proposed_at)
          IS DISTINCT FROM (OLD.version, OLD.document, OLD.digest, OLD.proposed_by_id, OLD.proposed_at) THEN
        RAISE EXCEPTION 'a policy version is activated once and never changes otherwise'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF NEW.activated_at IS NOT NULL
       AND EXISTS (SELECT FROM approvals_policyversion WHERE activated_at IS NOT NULL AND version > NEW.version) THEN
        RAISE EXCEPTION 'a later policy version is in force' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER for_ever BEFORE UPDATE ON approvals_policyversion
    FOR EACH ROW EXECUTE FUNCTION approvals_policy_is_for_ever();
