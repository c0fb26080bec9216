-- The second person: a decision is for ever, and whoever is the customer or took part in the conversation cannot
-- insert one. Who approved twice counts once.

CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON approvals_decision
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON approvals_signature
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON approvals_withdrawal
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON approvals_clearance
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- A check sees one row: here are the ones that need the request, the person and the participants too. With the
-- revision and the digest a decision cannot fall on a request that was changed while its page was open.
CREATE OR REPLACE FUNCTION approvals_second_person() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE OR REPLACE TRIGGER second_person BEFORE INSERT ON approvals_decision
    FOR EACH ROW EXECUTE FUNCTION approvals_second_person();

CREATE OR REPLACE FUNCTION approvals_taken_back() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM approvals_decision d JOIN approvals_request r ON r.reference = d.request_id
                   WHERE d.id = NEW.decision_id AND d.staff_id = NEW.staff_id AND d.verdict = 'approve'
                     AND d.revision = r.revision AND r.state IN ('pending', 'approved')) THEN
        RAISE EXCEPTION 'one takes back an own approval, while nothing is carried out'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'withdrawal_fits_decision';
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER taken_back BEFORE INSERT ON approvals_withdrawal
    FOR EACH ROW EXECUTE FUNCTION approvals_taken_back();

-- Another round needs a withdrawal for each before: nobody's approval counts twice.
CREATE OR REPLACE FUNCTION approvals_next_round() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.round <> (SELECT count(w.decision_id) FROM approvals_decision d
                     LEFT JOIN approvals_withdrawal w ON w.decision_id = d.id
                     WHERE d.request_id = NEW.request_id AND d.revision = NEW.revision AND d.staff_id = NEW.staff_id)
    THEN
        RAISE EXCEPTION 'nobody decides twice without taking the first decision back'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'decision_round';
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER next_round BEFORE INSERT ON approvals_decision
    FOR EACH ROW EXECUTE FUNCTION approvals_next_round();
