"""Versions of the policy, flags on customers, and the version that Placet begins with."""

import hashlib
import json

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

_LINES = {
    "automatic_day": 5000, "automatic_month": 20000, "two_people_day": 50000, "call": None, "order_day": None,
    "order_month": None, "method_day": None, "method_month": None, "conversation_day": None,
    "conversation_month": None,
}
_FIRST = {
    "lines": {"USD": _LINES, "GBP": _LINES, "EUR": _LINES},
    "tools": {},
    "approve_up_to": {},
    "sign_in": {"minutes": None, "methods": []},
    "most_open_requests": 4,
    "most_open_requests_site": 10000,
    "expires_hours": 72,
    "expires": {},
    "calendar": None,
    "execute_hours": 24,
}


def _begin(apps, schema_editor):
    body = json.dumps(_FIRST, sort_keys=True, separators=(",", ":"))
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO approvals_policyversion (version, document, digest, activated_at) VALUES (1, %s, %s, now())",
            [body, hashlib.sha256(body.encode()).hexdigest()],
        )


SQL = """
CREATE FUNCTION approvals_policy_is_for_ever() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.activated_at IS NOT NULL OR NEW.activated_at IS NULL
       OR (NEW.version, NEW.document, NEW.digest, NEW.proposed_by_id, NEW.proposed_at)
          IS DISTINCT FROM (OLD.version, OLD.document, OLD.digest, OLD.proposed_by_id, OLD.proposed_at) THEN
        RAISE EXCEPTION 'a policy version is activated once and never changes otherwise'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF EXISTS (SELECT FROM approvals_policyversion WHERE activated_at IS NOT NULL AND version > NEW.version) THEN
        RAISE EXCEPTION 'a later policy version is in force' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER for_ever BEFORE UPDATE ON approvals_policyversion
    FOR EACH ROW EXECUTE FUNCTION approvals_policy_is_for_ever();
CREATE TRIGGER never_deleted BEFORE DELETE OR TRUNCATE ON approvals_policyversion
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION approvals_flag_is_cleared_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.cleared_at IS NOT NULL OR NEW.cleared_at IS NULL
       OR (NEW.id, NEW.customer_id, NEW.author_id, NEW.at, NEW.reason)
          IS DISTINCT FROM (OLD.id, OLD.customer_id, OLD.author_id, OLD.at, OLD.reason) THEN
        RAISE EXCEPTION 'a flag is cleared once and never changes otherwise' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER cleared_once BEFORE UPDATE ON approvals_flag
    FOR EACH ROW EXECUTE FUNCTION approvals_flag_is_cleared_once();
CREATE TRIGGER never_deleted BEFORE DELETE OR TRUNCATE ON approvals_flag
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
"""
REVERSE = """
DROP TRIGGER never_deleted ON approvals_flag;
DROP TRIGGER cleared_once ON approvals_flag;
DROP FUNCTION approvals_flag_is_cleared_once();
DROP TRIGGER never_deleted ON approvals_policyversion;
DROP TRIGGER for_ever ON approvals_policyversion;
DROP FUNCTION approvals_policy_is_for_ever();
"""


class Migration(migrations.Migration):
    dependencies = [("approvals", "0003_brake")]
    operations = [
        migrations.CreateModel(
            name="PolicyVersion",
            fields=[
                ("version", models.PositiveIntegerField(primary_key=True, serialize=False)),
                ("document", models.JSONField()),
                ("digest", models.CharField(help_text="SHA-256 of the document's canonical JSON.", max_length=64)),
                ("proposed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("activated_at", models.DateTimeField(null=True)),
                (
                    "activated_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "proposed_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("version", 1), ("proposed_by__isnull", False), _connector="OR"),
                        name="a_policy_is_proposed_by_somebody",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("activated_by", models.F("proposed_by")), _negated=True),
                        name="another_activates_a_policy",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("activated_at", None), ("activated_by", None)),
                            models.Q(
                                ("activated_at__isnull", False),
                                models.Q(("version", 1), ("activated_by__isnull", False), _connector="OR"),
                            ),
                            _connector="OR",
                        ),
                        name="a_policy_is_activated_by_somebody",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Flag",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("customer_id", models.CharField(max_length=200)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("reason", models.CharField(max_length=1000)),
                ("cleared_at", models.DateTimeField(null=True)),
                (
                    "author",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "cleared_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("cleared_at", None)), fields=["customer_id"], name="flag_standing"
                    )
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("reason__gt", "")), name="a_flag_has_a_reason"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("cleared_at", None), ("cleared_by", None)),
                            models.Q(("cleared_at__isnull", False), ("cleared_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="a_flag_is_cleared_by_somebody",
                    ),
                ],
            },
        ),
        migrations.RunPython(_begin, migrations.RunPython.noop),
        migrations.RunSQL(SQL, REVERSE),
    ]
