from django.db import migrations

RENAME = "ALTER FUNCTION approvals_hold_brake() RENAME TO approvals_keep_brake_open;"
BACK = "ALTER FUNCTION approvals_keep_brake_open() RENAME TO approvals_hold_brake;"


class Migration(migrations.Migration):
    dependencies = [("approvals", "0044_hold_brake")]

    operations = [
        migrations.RenameField("request", "assigned_to", "second_approver"),
        migrations.RenameField("request", "claimed_by", "assigned_to"),
        migrations.RenameField("request", "claimed_until", "assigned_until"),
        migrations.RenameModel("Look", "SpotCheck"),
        migrations.RunSQL(RENAME, BACK),
    ]
