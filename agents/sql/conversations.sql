-- What was said stays, and so does which text was not to be trusted and which definition people chose.

CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON agents_untrustedtext
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON agents_pin
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON agents_handoff
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE OR REPLACE FUNCTION keep_what_staff_said() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what staff said to a customer stays as it was said' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE OR REPLACE TRIGGER staff_said BEFORE UPDATE ON agents_message
    FOR EACH ROW WHEN (OLD.author = 'staff' OR NEW.author = 'staff') EXECUTE FUNCTION keep_what_staff_said();
