"""Macros and the words of the reason codes, with those that come with Placet as version 0."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


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


def _begin(apps, schema_editor):
    alias = schema_editor.connection.alias
    macro, reason = (apps.get_model("approvals", name) for name in ("MacroEdit", "ReasonEdit"))
    macro.objects.using(alias).bulk_create(
        macro(macro=number, version=0, name=name, use=use, reason_code=code, text=text)
        for number, (name, use, code, text) in enumerate(_MACROS, 1)
    )
    reason.objects.using(alias).bulk_create(
        reason(code=code, version=0, label=label, help=help) for code, label, help in _REASONS
    )


SQL = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON approvals_macroedit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON approvals_reasonedit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION approvals_a_reason_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Two people who withdraw the last two at once would leave none.
    PERFORM pg_advisory_xact_lock(hashtext('approvals_reasonedit'));
    IF NOT EXISTS (
        SELECT FROM (SELECT DISTINCT ON (code) code, offered FROM approvals_reasonedit
                     WHERE code <> NEW.code ORDER BY code, version DESC) latest
        WHERE latest.offered) THEN
        RAISE EXCEPTION 'at least one reason code stays on offer' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER one_stays BEFORE INSERT ON approvals_reasonedit
    FOR EACH ROW WHEN (NOT NEW.offered) EXECUTE FUNCTION approvals_a_reason_stays();
"""
REVERSE = """
DROP TRIGGER one_stays ON approvals_reasonedit;
DROP FUNCTION approvals_a_reason_stays();
DROP TRIGGER append_only ON approvals_reasonedit;
DROP TRIGGER append_only ON approvals_macroedit;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('approvals', '0030_looks_and_talk_notes'),
    ]

    operations = [
        migrations.CreateModel(
            name='MacroEdit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('macro', models.PositiveIntegerField(help_text="The macro's number, the same for all of its versions.")),
                ('version', models.PositiveIntegerField()),
                ('name', models.CharField(max_length=60)),
                ('use', models.CharField(choices=[('approve', 'Approve'), ('lowered', 'Approve less'), ('deny', 'Deny'), ('ask', 'Ask the customer')], max_length=8)),
                ('reason_code', models.CharField(blank=True, default='', max_length=20)),
                ('text', models.CharField(help_text='With variables such as {order_id}.', max_length=1500)),
                ('offered', models.BooleanField(default=True, help_text='Withdrawn macros are kept and not offered.')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('author', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('macro', 'version'), name='one_next_version_of_a_macro'), models.CheckConstraint(condition=models.Q(('name__gt', ''), ('text__gt', '')), name='a_macro_has_a_name_and_a_text'), models.CheckConstraint(condition=models.Q(('version', 0), ('author__isnull', False), _connector='OR'), name='a_macro_is_edited_by_somebody'), models.CheckConstraint(condition=models.Q(('use__in', ['approve', 'lowered', 'deny', 'ask'])), name='macro_use_known')],
            },
        ),
        migrations.CreateModel(
            name='ReasonEdit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.CharField(max_length=20)),
                ('version', models.PositiveIntegerField()),
                ('label', models.CharField(max_length=60)),
                ('help', models.CharField(blank=True, default='', max_length=300)),
                ('offered', models.BooleanField(default=True)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('author', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('code', 'version'), name='one_next_version_of_a_reason'), models.CheckConstraint(condition=models.Q(('label__gt', '')), name='a_reason_has_a_label'), models.CheckConstraint(condition=models.Q(('version', 0), ('author__isnull', False), _connector='OR'), name='a_reason_is_edited_by_somebody')],
            },
        ),
        migrations.RunPython(_begin, migrations.RunPython.noop),
        migrations.RunSQL(SQL, REVERSE),
    ]
