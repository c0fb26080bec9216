"""The bodies of the staff API of requests."""

from rest_framework import serializers

from approvals.models import Decision, Request
from base.http.parsing import StrictSerializer, Text
from base.money import MAX_MINOR


class RequestFilters(serializers.Serializer[object]):
    state = serializers.ChoiceField(Request.State.values, required=False)
    conversation = serializers.UUIDField(required=False)
    customer = serializers.CharField(required=False, max_length=200)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=200)
    cursor = serializers.CharField(required=False, max_length=300)


class RequestShape(serializers.Serializer[object]):
    reference = serializers.CharField()
    state = serializers.ChoiceField(Request.State.values)
    digest = serializers.CharField()
    tool = serializers.CharField()
    arguments = serializers.DictField()
    amount_minor = serializers.IntegerField()
    currency = serializers.CharField()
    customer_id = serializers.CharField()
    conversation_id = serializers.UUIDField()
    rule = serializers.CharField()
    approvals_needed = serializers.IntegerField()
    approvals_given = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class DecisionShape(serializers.Serializer[object]):
    by = serializers.CharField()
    verdict = serializers.ChoiceField(Decision.Verdict.values)
    revision = serializers.IntegerField()
    reason_code = serializers.CharField()
    note = serializers.CharField()
    customer_message = serializers.CharField()
    at = serializers.DateTimeField()


class RequestDetail(RequestShape):
    preview = serializers.DictField()
    case_file = serializers.DictField()
    decisions = DecisionShape(many=True)


class RequestPage(serializers.Serializer[object]):
    results = RequestShape(many=True)
    next = serializers.URLField(allow_null=True)


class Minor(serializers.IntegerField):
    """An amount in minor units: a JSON integer, and neither text nor a fraction."""

    def to_internal_value(self, data: object) -> int:
        if not isinstance(data, int) or isinstance(data, bool) or abs(data) > MAX_MINOR:
            raise serializers.ValidationError("Must be a whole number of minor units.")
        return data


class BulkItem(StrictSerializer):
    reference = Text(most=16)
    digest = Text(most=64)


class BulkApproval(StrictSerializer):
    items = BulkItem(many=True)


class BulkResult(serializers.Serializer[object]):
    reference = serializers.CharField()
    state = serializers.CharField(allow_null=True)
    message = serializers.CharField()


class BulkResults(serializers.Serializer[object]):
    results = BulkResult(many=True)


class NewDecision(StrictSerializer):
    verdict = serializers.ChoiceField(Decision.Verdict.values)
    digest = Text(most=64)
    reason_code = serializers.ChoiceField(Decision.Reason.values, required=False, allow_blank=True)
    amount_minor = Minor(required=False)
    note = Text(most=2_000, blank=True, required=False)
    customer_message = Text(most=2_000, blank=True, required=False)
