"""The second person, held by the database: a decision is for ever, and whoever is the customer or took part
in the conversation cannot insert one."""

from django.db import migrations

SQL = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON approvals_decision
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION approvals_second_person() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM approvals_request r WHERE r.reference = NEW.request_id
                   AND r.customer_id = NEW.customer_id AND r.revision = NEW.revision AND r.digest = NEW.digest) THEN
        RAISE EXCEPTION 'a decision names the request''s customer, revision and digest'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'decision_fits_request';
    END IF;
    IF NOT EXISTS (SELECT FROM approvals_staff s WHERE s.id = NEW.staff_id AND s.is_active
                   AND s.customer_id = NEW.staff_customer_id AND s.role IN ('agent', 'lead')) THEN
        RAISE EXCEPTION 'only an active agent or lead decides'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'decision_by_role';
    END IF;
    IF EXISTS (SELECT FROM approvals_participant p JOIN approvals_request r ON r.conversation_id = p.conversation_id
               WHERE r.reference = NEW.request_id AND p.staff_id = NEW.staff_id) THEN
        RAISE EXCEPTION 'who took part in the conversation does not decide'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'decision_by_outsider';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER second_person BEFORE INSERT ON approvals_decision
    FOR EACH ROW EXECUTE FUNCTION approvals_second_person();
"""
REVERSE = """
DROP TRIGGER second_person ON approvals_decision;
DROP FUNCTION approvals_second_person();
DROP TRIGGER append_only ON approvals_decision;
"""


class Migration(migrations.Migration):
    dependencies = [("approvals", "0001_initial"), ("audit", "0002_append_only")]
    operations = [migrations.RunSQL(SQL, REVERSE)]
