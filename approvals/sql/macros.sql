-- Every version of a macro and of a reason code stays, and one reason at least stays on offer: a denial needs one.

CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON approvals_macroedit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON approvals_reasonedit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE OR REPLACE FUNCTION approvals_a_reason_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Two people who withdraw the last two at once would leave none.
    PERFORM pg_advisory_xact_lock(hashtext('approvals_reasonedit'));
    IF NOT EXISTS (
        SELECT FROM (SELECT DISTINCT ON (code) code, offered FROM approvals_reasonedit
                     WHERE code <> NEW.code ORDER BY code, version DESC) latest
        WHERE latest.offered) THEN
        RAISE EXCEPTION 'at least one reason code stays on offer' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER one_stays BEFORE INSERT ON approvals_reasonedit
    FOR EACH ROW WHEN (NOT NEW.offered) EXECUTE FUNCTION approvals_a_reason_stays();
