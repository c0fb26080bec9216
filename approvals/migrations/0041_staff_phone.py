"""A telephone number for staff, optional."""
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('approvals', '0040_macros'),
    ]

    operations = [
        migrations.AddField(
            model_name='staff',
            name='phone',
            field=models.CharField(blank=True, default='', help_text='To reach them; never shown to customers.', max_length=40),
        ),
    ]
