"""Nobody edits the record: triggers refuse UPDATE, DELETE and TRUNCATE, whoever asks."""

from django.db import migrations

SQL = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_event
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_detail
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
"""
REVERSE = """
DROP TRIGGER append_only ON audit_detail;
DROP TRIGGER append_only ON audit_event;
DROP FUNCTION refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]
    operations = [migrations.RunSQL(SQL, REVERSE)]
