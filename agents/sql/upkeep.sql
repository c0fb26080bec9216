-- Every turn changes its row several times, and claims look through what is left of those that have ended.

-- Vacuumed after so many dead rows, however large the table has grown; room on each page for a row's next version.
ALTER TABLE agents_turn SET (
    fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000);
