-- Everything that the roles may do, in one place. Applied after every migrate, which compares it
-- with the catalogue; may be run again at will. The walls that row-level security draws are in ledger/sql/walls.sql.
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, placet_app, placet_customer, placet_staff;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM PUBLIC, placet_app, placet_customer, placet_staff;
GRANT USAGE ON SCHEMA public TO placet_app, placet_customer, placet_staff;

-- The application by itself: conversations, requests, sessions. No customer's row, no change of the record.
GRANT SELECT, INSERT, UPDATE, DELETE ON django_session TO placet_app;
GRANT SELECT ON django_migrations, django_content_type, auth_permission, auth_group TO placet_app;
GRANT SELECT, INSERT, UPDATE ON approvals_staff TO placet_app;
GRANT SELECT ON approvals_staff_groups, approvals_staff_user_permissions TO placet_app;
-- How staff sign in: allauth's tables, of which it needs no addresses, applications or tokens, and our counters.
GRANT SELECT, INSERT, UPDATE, DELETE ON mfa_authenticator, usersessions_usersession, console_cacheentry TO placet_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON socialaccount_socialaccount TO placet_app;
GRANT SELECT, INSERT, UPDATE ON console_attempt TO placet_app;
GRANT SELECT, DELETE ON socialaccount_socialtoken TO placet_app; -- which stays empty, but is looked through
GRANT SELECT ON account_emailaddress, socialaccount_socialapp TO placet_app;
GRANT SELECT, INSERT, UPDATE ON approvals_request TO placet_app;
GRANT SELECT, INSERT ON approvals_decision, approvals_signature, approvals_withdrawal, approvals_clearance, approvals_note, approvals_participant, approvals_spotcheck TO placet_app;
GRANT SELECT, INSERT ON approvals_macroedit, approvals_reasonedit TO placet_app;
GRANT SELECT, INSERT ON approvals_question TO placet_app;
GRANT SELECT, INSERT, UPDATE (until) ON approvals_snooze TO placet_app;
GRANT SELECT, INSERT, UPDATE (ended_at) ON approvals_absence TO placet_app;
GRANT SELECT, INSERT, UPDATE (sent_at) ON approvals_delivery TO placet_app;
GRANT SELECT, INSERT, UPDATE (attempts, next_at, parked_at, parked_why), DELETE ON base_workitem TO placet_app;
GRANT SELECT, INSERT, UPDATE (seconds) ON approvals_cardview TO placet_app;
GRANT SELECT, INSERT, UPDATE (done_by_id, done_at, outcome) ON approvals_task TO placet_app;
GRANT SELECT, INSERT, UPDATE (proposed_by_id, proposed_at, proposed_reason, released_by_id, released_at)
    ON approvals_brake TO placet_app;
GRANT SELECT, INSERT, UPDATE (activated_by_id, activated_at, withdrawn_by_id, withdrawn_at)
    ON approvals_policyversion TO placet_app;
GRANT SELECT, INSERT, UPDATE (cleared_by_id, cleared_at) ON approvals_flag TO placet_app;
GRANT SELECT, INSERT ON agents_definition, agents_pin, agents_session, agents_toolcall, agents_untrustedtext TO placet_app;
GRANT SELECT, INSERT, UPDATE ON agents_conversation, agents_turn, agents_limit TO placet_app;
GRANT SELECT, INSERT, UPDATE ON agents_message TO placet_app;
GRANT SELECT, INSERT, UPDATE (ended_at, ended_by_id) ON agents_handoff TO placet_app;
GRANT SELECT, INSERT ON audit_event, audit_detail TO placet_app;
GRANT SELECT ON ledger_product TO placet_app;

-- A customer's scope: row-level security shows it that customer's rows alone.
GRANT SELECT ON ledger_customer, ledger_paymentmethod, ledger_order, ledger_product, ledger_account, ledger_entry,
    ledger_transfer, ledger_hold, ledger_payout, ledger_dispute TO placet_customer;
GRANT INSERT ON ledger_entry, ledger_transfer, ledger_hold, ledger_account TO placet_customer;
GRANT UPDATE (address, touched_at) ON ledger_customer TO placet_customer;
GRANT UPDATE (status, address, items, cancel_reason, "returning", exchanging, touched_at) ON ledger_order
    TO placet_customer;
GRANT UPDATE (state, ended_at) ON ledger_hold TO placet_customer;
GRANT UPDATE (state, provider, source, provider_reference, attempts, next_at, lease_until, first_sent_at, error_code)
    ON ledger_payout TO placet_customer;

-- The staff's scope: reads for the console, and the shop's own imports. Never an entry.
GRANT SELECT ON ledger_customer, ledger_paymentmethod, ledger_order, ledger_product, ledger_account, ledger_entry,
    ledger_transfer, ledger_hold, ledger_payout, ledger_dispute, ledger_providerevent TO placet_staff;
GRANT INSERT ON ledger_customer, ledger_paymentmethod, ledger_order, ledger_product, ledger_account, ledger_transfer,
    ledger_hold, ledger_dispute, ledger_providerevent TO placet_staff;
GRANT UPDATE (state, ended_at) ON ledger_hold TO placet_staff;
GRANT UPDATE (state) ON ledger_dispute TO placet_staff;
GRANT UPDATE (state, provider, source, provider_reference, attempts, next_at, lease_until, first_sent_at, error_code,
    handled_by) ON ledger_payout TO placet_staff;
GRANT UPDATE ON ledger_customer, ledger_paymentmethod, ledger_order, ledger_product TO placet_staff;

GRANT EXECUTE ON FUNCTION ledger_is_disabled(text), ledger_due_payouts(integer, integer) TO placet_app;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO placet_app, placet_customer, placet_staff;
