"""A proposal that was withdrawn: kept, and never put in force."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

STEP = """
CREATE OR REPLACE FUNCTION approvals_policy_is_for_ever() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.activated_at IS NOT NULL{withdrawn}
       OR (NEW.version, NEW.document, NEW.digest, NEW.proposed_by_id, NEW.proposed_at)
          IS DISTINCT FROM (OLD.version, OLD.document, OLD.digest, OLD.proposed_by_id, OLD.proposed_at) THEN
        RAISE EXCEPTION 'a policy version is activated once and never changes otherwise'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF NEW.activated_at IS NOT NULL
       AND EXISTS (SELECT FROM approvals_policyversion WHERE activated_at IS NOT NULL AND version > NEW.version) THEN
        RAISE EXCEPTION 'a later policy version is in force' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
"""
SQL = STEP.format(
    withdrawn=" OR OLD.withdrawn_at IS NOT NULL OR num_nonnulls(NEW.activated_at, NEW.withdrawn_at) <> 1"
)
REVERSE = STEP.format(withdrawn=" OR NEW.activated_at IS NULL")


class Migration(migrations.Migration):

    dependencies = [
        ('approvals', '0041_staff_phone'),
    ]

    operations = [
        migrations.AddField(
            model_name='policyversion',
            name='withdrawn_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='policyversion',
            name='withdrawn_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddConstraint(
            model_name='policyversion',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('withdrawn_at', None), ('withdrawn_by', None)), models.Q(('activated_at', None), ('withdrawn_at__isnull', False), ('withdrawn_by__isnull', False)), _connector='OR'), name='a_withdrawn_policy_binds_nothing'),
        ),
        migrations.RunSQL(SQL, REVERSE),
    ]
