from django.db import migrations, models

KINDS = [
    'dispatch', 'decision', 'execution', 'sign_in', 'access', 'role', 'policy', 'brake', 'turn', 'request', 'payout',
    'decoy',
]


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0002_append_only'),
    ]

    operations = [
        migrations.AlterField(
            model_name='event',
            name='kind',
            field=models.CharField(choices=[(kind, kind.replace('_', ' ').title()) for kind in KINDS], max_length=16),
        ),
        migrations.RemoveConstraint(
            model_name='event',
            name='event_kind_known',
        ),
        migrations.AddConstraint(
            model_name='event',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', KINDS)), name='event_kind_known'),
        ),
    ]
