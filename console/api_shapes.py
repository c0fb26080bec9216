"""What the staff API of the brake takes and gives."""

from typing import Any

from rest_framework import serializers

from agents.tools.registry import tools
from approvals import brakes
from approvals.models import Brake
from base.http.parsing import StrictSerializer, Text


class BrakeShape(serializers.Serializer[object]):
    target = serializers.ChoiceField(Brake.Target.values)
    tool = serializers.CharField()
    reason = serializers.CharField()
    pulled_by = serializers.CharField()
    pulled_at = serializers.DateTimeField()
    release_proposed_by = serializers.CharField(allow_null=True)
    release_proposed_at = serializers.DateTimeField(allow_null=True)


class BrakeList(serializers.Serializer[object]):
    on = BrakeShape(many=True)


class BrakeMove(StrictSerializer):
    state = serializers.ChoiceField(["on", "off"])
    tool = Text(most=100, required=False)
    answers = serializers.BooleanField(required=False)
    reason = Text(most=brakes.MOST_REASON)

    def validate_tool(self, name: str) -> str:
        if name not in tools():
            raise serializers.ValidationError(f"No such tool. There are: {', '.join(tools())}.")
        return name

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("tool") and attrs.get("answers"):
            raise serializers.ValidationError({"answers": ["Give tool or answers, not both."]})
        return attrs
