"""Which policy a conversation began with, how its customer signed in, and where untrusted text entered it."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

SQL = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON agents_untrustedtext
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
"""
REVERSE = "DROP TRIGGER append_only ON agents_untrustedtext;"


class Migration(migrations.Migration):
    dependencies = [("agents", "0001_initial"), ("approvals", "0004_policy_versions")]
    operations = [
        migrations.AddField(
            model_name="conversation",
            name="amr",
            field=models.JSONField(db_default=[], default=list, help_text="How they proved it, as their token says."),
        ),
        migrations.AddField(
            model_name="conversation",
            name="auth_time",
            field=models.DateTimeField(
                help_text="When the customer who wrote last proved who they are.", null=True
            ),
        ),
        migrations.AddField(
            model_name="conversation",
            name="policy_version",
            field=models.PositiveIntegerField(db_default=1, default=1, help_text="In force when it began."),
        ),
        migrations.CreateModel(
            name="UntrustedText",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("block", models.PositiveSmallIntegerField()),
                ("tool", models.CharField(max_length=200)),
                (
                    "field",
                    models.CharField(
                        blank=True, default="", help_text="Empty for the whole result.", max_length=100
                    ),
                ),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="untrusted_texts",
                        to="agents.conversation",
                    ),
                ),
                (
                    "message",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="agents.message"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("message", "block", "field"), name="untrusted_text_once")
                ],
            },
        ),
        migrations.RunSQL(SQL, REVERSE),
    ]
