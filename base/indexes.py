"""Indexes that the mapper makes and nobody uses: each costs every write and the disk."""

from django.db.migrations import RunSQL

# Beside each index on text that it makes by itself stands one for searches by prefix, which no query of ours is.
_DROP = """
DO $$ DECLARE unused text; BEGIN
    FOR unused IN SELECT format('%I.%I', schemaname, indexname) FROM pg_indexes
        WHERE schemaname = current_schema() AND tablename LIKE '{app}\\_%' AND indexname LIKE '%\\_like'
    LOOP EXECUTE 'DROP INDEX ' || unused; END LOOP;
END $$;
"""


def drop_prefix_indexes(app: str) -> RunSQL:
    """A migration's last step: an app's tables lose what only searches by prefix need."""
    return RunSQL(_DROP.format(app=app), RunSQL.noop)
