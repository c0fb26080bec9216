import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from base.indexes import drop_prefix_indexes


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0030_post_message'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='message',
            name='message_once',
        ),
        migrations.RemoveConstraint(
            model_name='message',
            name='said_once',
        ),
        migrations.AlterField(
            model_name='conversation',
            name='definition',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='agents.definition'),
        ),
        migrations.AlterField(
            model_name='message',
            name='conversation',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='messages', to='agents.conversation'),
        ),
        migrations.AlterField(
            model_name='message',
            name='staff',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='toolcall',
            name='message',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='tool_calls', to='agents.message'),
        ),
        migrations.AlterField(
            model_name='turn',
            name='conversation',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='turns', to='agents.conversation'),
        ),
        migrations.AlterField(
            model_name='untrustedtext',
            name='message',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='agents.message'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(condition=models.Q(('client_id__isnull', False)), fields=('conversation', 'client_id'), name='message_once'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.UniqueConstraint(condition=models.Q(('key__isnull', False)), fields=('conversation', 'key'), name='said_once'),
        ),
        migrations.AddIndex(
            model_name='turn',
            index=models.Index(condition=models.Q(('state', 'finished'), models.Q(('reason', 'answered'), _negated=True)), fields=['finished_at'], name='turn_unanswered'),
        ),
        drop_prefix_indexes('agents'),
    ]
