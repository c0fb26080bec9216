-- What every write asks first, in one statement: the brake's lock, shared, and then which brakes are on.

-- The lock is `ledger.locks.lock_brake`'s. The second statement sees what was committed while the first one waited.
CREATE OR REPLACE FUNCTION approvals_keep_brake_open() RETURNS TABLE (target text, tool text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(20546);
    RETURN QUERY SELECT b.target::text, b.tool::text FROM approvals_brake b WHERE b.released_at IS NULL;
END $$;
