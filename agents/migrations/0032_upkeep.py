"""Every turn changes its row several times, and claims look through what is left of those that have ended."""

from django.db import migrations

# Vacuumed after so many dead rows, however large the table has grown; room on each page for a row's next version.
SQL = """
ALTER TABLE agents_turn SET (
    fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000);
"""
REVERSE = """
ALTER TABLE agents_turn RESET (
    fillfactor, autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold, autovacuum_analyze_scale_factor,
    autovacuum_analyze_threshold);
"""


class Migration(migrations.Migration):

    dependencies = [('agents', '0031_indexes')]

    operations = [migrations.RunSQL(SQL, REVERSE)]
