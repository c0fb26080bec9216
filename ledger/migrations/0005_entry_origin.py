"""Where an entry was asked for, and whether that conversation held untrusted text."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0004_money_leaves")]
    operations = [
        migrations.AddField(
            model_name="entry",
            name="conversation_id",
            field=models.UUIDField(help_text="Where it was asked for.", null=True),
        ),
        migrations.AddField(
            model_name="entry",
            name="untrusted",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Asked for in a conversation that held untrusted text.",
            ),
        ),
    ]
