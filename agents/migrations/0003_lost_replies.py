"""What a model call under way may cost, so that a reply that dies with its worker is counted."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0002_untrusted_text'),
    ]

    operations = [
        migrations.AddField(
            model_name='turn',
            name='asked_microcents',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='turn',
            name='asked_tokens',
            field=models.BigIntegerField(db_default=0, default=0, help_text='Estimated input of the model call under way: what a lost reply counts as.'),
        ),
    ]
