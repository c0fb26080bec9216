-- There is always somebody who can administer.

CREATE OR REPLACE FUNCTION keep_last_admin() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Two administrators who remove each other at once would both still see the other: one at a time.
    PERFORM pg_advisory_xact_lock(hashtext('last_admin'));
    IF NOT EXISTS (SELECT FROM approvals_staff WHERE role = 'admin' AND is_active AND id <> OLD.id) THEN
        RAISE EXCEPTION 'The last active administrator stays one.'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'last_admin';
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER last_admin BEFORE UPDATE ON approvals_staff FOR EACH ROW
    WHEN (OLD.role = 'admin' AND OLD.is_active AND NOT (NEW.role = 'admin' AND NEW.is_active))
    EXECUTE FUNCTION keep_last_admin();
