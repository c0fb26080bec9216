-- Posting a customer's message in one statement, under the lock that claims take too: a message joins the queued turn
-- or begins the next one, and a message sent again is found again.

CREATE OR REPLACE FUNCTION agents_post_message(
    wanted uuid, by_session text, proved_at timestamptz, proved_by jsonb, by_client text, said text, new_turn uuid,
    OUT outcome text, OUT message bigint, OUT turn uuid, OUT at timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
    chat agents_conversation;
    before text;
    last integer;
BEGIN
    SELECT * INTO STRICT chat FROM agents_conversation WHERE id = wanted FOR NO KEY UPDATE;
    -- What follows sees all that was committed while this waited for the lock.
    SELECT m.id, m.turn_id, m.created_at, m.text INTO message, turn, at, before
        FROM agents_message m WHERE m.conversation_id = wanted AND m.client_id = by_client;
    IF FOUND THEN
        outcome := CASE WHEN before = said AND turn IS NOT NULL THEN 'again' ELSE 'other_text' END;
        RETURN;
    END IF;
    outcome := chat.state;
    IF chat.state = 'closed' THEN
        RETURN;
    END IF;
    IF (chat.session_id, chat.auth_time, chat.amr) IS DISTINCT FROM (by_session, proved_at, proved_by) THEN
        UPDATE agents_conversation SET session_id = by_session, auth_time = proved_at, amr = proved_by WHERE id = wanted;
    END IF;
    SELECT t.id INTO turn FROM agents_turn t WHERE t.conversation_id = wanted AND t.state = 'queued';
    SELECT coalesce(max(t.number), 0) INTO last FROM agents_turn t WHERE t.conversation_id = wanted;
    IF turn IS NULL AND chat.state = 'with_staff' THEN
        -- A turn that no worker runs; the next one that runs reads what was written on it.
        SELECT t.id INTO turn FROM agents_turn t
            WHERE t.conversation_id = wanted AND t.number = last AND t.reason = 'taken_over' AND t.attempts = 0;
    END IF;
    IF turn IS NULL THEN
        INSERT INTO agents_turn (id, conversation_id, customer_id, number, state, reason, finished_at, fence, owner,
                                 attempts, waits, last_input_tokens, steps, writes, errors_in_row, input_tokens,
                                 output_tokens, cost_microcents)
        SELECT new_turn, wanted, chat.customer_id, last + 1, state, reason, finished_at, 0, '', 0, 0, 0, 0, 0, 0, 0, 0, 0
        FROM (VALUES ('open', 'queued', '', NULL), ('with_staff', 'finished', 'taken_over', now()))
            AS fresh(chat_state, state, reason, finished_at) WHERE chat_state = chat.state
        RETURNING id INTO turn;
    END IF;
    INSERT INTO agents_message (conversation_id, turn_id, author, text, client_id, content, stop_reason, in_history,
                                provider_request_id)
    VALUES (wanted, turn, 'customer', said, by_client, '', '', true, '') RETURNING id, created_at INTO message, at;
END $$;
