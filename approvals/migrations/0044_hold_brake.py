"""What every write asks first, in one statement: the brake's lock, shared, and then which brakes are on."""

from django.db import migrations

# The lock is `ledger.locks.lock_brake`'s. The second statement sees what was committed while the first one waited.
SQL = """
CREATE FUNCTION approvals_hold_brake() RETURNS TABLE (target text, tool text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(20546);
    RETURN QUERY SELECT b.target::text, b.tool::text FROM approvals_brake b WHERE b.released_at IS NULL;
END $$;
"""


class Migration(migrations.Migration):

    dependencies = [('approvals', '0043_indexes')]

    operations = [migrations.RunSQL(SQL, "DROP FUNCTION approvals_hold_brake();")]
