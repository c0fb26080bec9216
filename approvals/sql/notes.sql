-- What staff wrote, asked, found or warned of stays as it was.

CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON approvals_note
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON approvals_question
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON approvals_spotcheck
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER never_deleted BEFORE DELETE OR TRUNCATE ON approvals_flag
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE OR REPLACE FUNCTION approvals_flag_is_cleared_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.cleared_at IS NOT NULL OR NEW.cleared_at IS NULL
       OR (NEW.id, NEW.customer_id, NEW.author_id, NEW.at, NEW.reason)
          IS DISTINCT FROM (OLD.id, OLD.customer_id, OLD.author_id, OLD.at, OLD.reason) THEN
        RAISE EXCEPTION 'a flag is cleared once and never changes otherwise' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER cleared_once BEFORE UPDATE ON approvals_flag
    FOR EACH ROW EXECUTE FUNCTION approvals_flag_is_cleared_once();
