-- Beside each index on text that the mapper makes by itself stands one for searches by prefix, which no query of ours
-- is. Each would cost every write and the disk.

DO $$ DECLARE unused text; BEGIN
    FOR unused IN SELECT format('%I.%I', schemaname, indexname) FROM pg_indexes
        WHERE schemaname = current_schema() AND tablename ~ '^(agents|approvals|audit|console|ledger)_'
          AND indexname LIKE '%\_like'
    LOOP EXECUTE 'DROP INDEX ' || unused; END LOOP;
END $$;
