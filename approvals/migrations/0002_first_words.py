"""What Placet begins with: the first version of the policy, and the macros and reason codes as version 0."""

import hashlib
import json

from django.db import migrations

_LINES = {
    "automatic_day": 5000, "automatic_month": 20000, "two_people_day": 50000, "call": None, "order_day": None,
    "order_month": None, "method_day": None, "method_month": None, "conversation_day": None,
    "conversation_month": None,
}
_POLICY = {
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


def _policy(apps, schema_editor):
    body = json.dumps(_POLICY, sort_keys=True, separators=(",", ":"))
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO approvals_policyversion (version, document, digest, activated_at) VALUES (1, %s, %s, now())",
            [body, hashlib.sha256(body.encode()).hexdigest()],
        )


_MACROS = (
    (
        "Refund on its way",
        "approve",
        "",
        "Dear {customer_name}, we have agreed to your request {reference} for order {order_id}. {amount} goes back to "
        "the way you paid; a bank may take a few days to show it. With our apologies for the trouble, {shop}.",
    ),
    (
        "Part of it agreed",
        "lowered",
        "goodwill",
        "Dear {customer_name}, you asked for {amount} for order {order_id}. We looked at the order and can agree to a "
        "part of that, which is on its way. If you see it differently, answer here and a colleague will look at it "
        "again. {shop}",
    ),
    (
        "More evidence needed",
        "deny",
        "evidence_missing",
        "Dear {customer_name}, we could not agree to your request {reference} for order {order_id} yet, because we "
        "lack proof of what happened. Please send us a photo of the item and of its packaging in this chat, and we "
        "will look at it again. {shop}",
    ),
    (
        "Refunded before",
        "deny",
        "duplicate",
        "Dear {customer_name}, order {order_id} has been refunded for this before, so we did not pay {amount} a second "
        "time. If the earlier payment has not reached you, tell us in this chat. {shop}",
    ),
    (
        "Outside our policy",
        "deny",
        "policy",
        "Dear {customer_name}, we are sorry: our policy does not cover what you asked for on order {order_id} "
        "(request {reference}). If something about it was not said yet, answer here and a colleague will read it. "
        "{shop}",
    ),
    (
        "A photo, please",
        "ask",
        "",
        "Dear {customer_name}, before we decide about order {order_id}, could you send us a photo of the item and of "
        "its packaging? {shop}",
    ),
)
_REASONS = (
    ("duplicate", "Duplicate", "The same was refunded or asked for before."),
    ("not_eligible", "Not eligible", "This order or this item cannot have it."),
    ("evidence_missing", "Evidence missing", "It may be right, but nothing shows it yet."),
    ("suspected_fraud", "Suspected fraud", "Say why in the note; flag the customer if others should know."),
    ("policy", "Against our policy", "The rules of the shop do not allow it."),
    ("goodwill", "Goodwill", "Not owed, given to keep the customer's trust."),
    ("other", "Other", "Say in the note what it was."),
)


def _words(apps, schema_editor):
    alias = schema_editor.connection.alias
    macro, reason = (apps.get_model("approvals", name) for name in ("MacroEdit", "ReasonEdit"))
    macro.objects.using(alias).bulk_create(
        macro(macro=number, version=0, name=name, use=use, reason_code=code, text=text)
        for number, (name, use, code, text) in enumerate(_MACROS, 1)
    )
    reason.objects.using(alias).bulk_create(
        reason(code=code, version=0, label=label, help=help) for code, label, help in _REASONS
    )


class Migration(migrations.Migration):
    dependencies = [("approvals", "0001_initial")]
    operations = [
        migrations.RunPython(_policy, migrations.RunPython.noop),
        migrations.RunPython(_words, migrations.RunPython.noop),
    ]
