-- The application's role and the scopes that it can put on. Set-up runs this as the database's owner (or a
-- superuser), connected to Placet's database; roles belong to the whole cluster, so migrations never make them.
-- Running it again changes nothing. A missing role needs CREATEROLE; the owner itself (placet_owner) comes first.

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'placet_app') THEN
        CREATE ROLE placet_app LOGIN NOINHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'placet_customer') THEN
        CREATE ROLE placet_customer NOLOGIN NOINHERIT;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'placet_staff') THEN
        CREATE ROLE placet_staff NOLOGIN NOINHERIT;
    END IF;
    IF NOT EXISTS (
        SELECT FROM pg_auth_members
        WHERE member = 'placet_app'::regrole AND roleid = 'placet_customer'::regrole AND set_option
    ) THEN
        GRANT placet_customer TO placet_app WITH INHERIT FALSE, SET TRUE;
    END IF;
    IF NOT EXISTS (
        SELECT FROM pg_auth_members
        WHERE member = 'placet_app'::regrole AND roleid = 'placet_staff'::regrole AND set_option
    ) THEN
        GRANT placet_staff TO placet_app WITH INHERIT FALSE, SET TRUE;
    END IF;
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO placet_app', current_database());
END
$$;

REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO placet_app, placet_customer, placet_staff;
