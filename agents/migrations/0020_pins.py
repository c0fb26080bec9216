"""Which definition new conversations begin with, as people choose it."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

SQL = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON agents_pin
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
"""
REVERSE = "DROP TRIGGER append_only ON agents_pin;"


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0010_take_over'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Pin',
            fields=[
                ('number', models.PositiveIntegerField(primary_key=True, serialize=False)),
                ('reason', models.CharField(max_length=1000)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('definition', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='agents.definition')),
                ('staff', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('reason__gt', '')), name='a_pin_has_a_reason')],
            },
        ),
        migrations.RunSQL(SQL, REVERSE),
    ]
