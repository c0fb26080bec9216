"""A task for a lead says whether the money of what should not have been executed was recalled."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("approvals", "0011_decoys")]
    operations = [
        migrations.AddField(
            model_name="task",
            name="money",
            field=models.CharField(
                choices=[
                    ("recalled", "Its money had not been sent: it was recalled, and the books are as before."),
                    ("left", "Its money had left, or was about to: nothing was changed."),
                    ("none", "No payout of it waits here: nothing was changed."),
                ],
                default="none",
                max_length=8,
            ),
        ),
    ]
