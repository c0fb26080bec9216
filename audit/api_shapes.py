"""What the staff API of the record gives."""

from rest_framework import serializers

from audit.models import ActorKind, Kind


class ActorShape(serializers.Serializer[object]):
    kind = serializers.ChoiceField(ActorKind.values)
    id = serializers.CharField()


class EventShape(serializers.Serializer[object]):
    id = serializers.CharField()
    at = serializers.DateTimeField()
    kind = serializers.ChoiceField(Kind.values)
    actor = ActorShape()
    customer_id = serializers.CharField(allow_null=True)
    conversation_id = serializers.UUIDField(allow_null=True)
    turn_id = serializers.UUIDField(allow_null=True)
    tool_use_id = serializers.CharField(allow_null=True)
    tool = serializers.CharField(allow_null=True)
    arguments = serializers.JSONField(allow_null=True, help_text="As received.")
    decision = serializers.CharField()
    rule = serializers.CharField(allow_null=True)
    reason = serializers.CharField(allow_null=True)
    reference = serializers.CharField(allow_null=True)
    downstream_reference = serializers.CharField(allow_null=True)
    amount_minor = serializers.IntegerField(allow_null=True)
    currency = serializers.CharField(allow_null=True)
    policy_version = serializers.IntegerField(allow_null=True)


class EventPage(serializers.Serializer[object]):
    results = EventShape(many=True)
    next = serializers.URLField(allow_null=True)
