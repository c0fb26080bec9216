"""The bodies of the ledger's protocol: what comes in is checked by these, what goes out is described by them."""

from rest_framework import serializers

from base.http.parsing import Matching, StrictSerializer, Text

_DIGEST, _REQUEST = r"[0-9a-f]{64}", r"R-[0-9A-Z]{6,10}"
_OWNER = _REQUEST + r"(\.[0-9]{1,3})?"
_AMOUNT = "In minor units of the currency."


class Asked(StrictSerializer):
    tool = Text(most=100)
    arguments = serializers.DictField(help_text="As the tool takes them.")


class AskedAsShown(Asked):
    digest = Matching(_DIGEST, most=64, help_text="Of the plan that the caller was shown: see docs/ledger-http.md.")
    basis = Matching(_DIGEST, most=64, required=False, help_text="Of what had moved, where a policy decided on it.")


class NewEntry(AskedAsShown):
    key = Text(most=200, help_text="The same key again answers with what it posted.")
    request_reference = Matching(_REQUEST, most=12, required=False, help_text="The approved request, if it is one.")
    owner = Matching(_OWNER, most=16, required=False, help_text="Of its hold, which is given back first.")


class NewHold(AskedAsShown):
    owner = Matching(_OWNER, most=16, help_text="The request that waits, with its revision from the second on.")


class EndedHold(StrictSerializer):
    owner = Matching(_OWNER, most=16)


class Holds(serializers.Serializer[object]):
    holds = serializers.IntegerField()


class MovementShape(serializers.Serializer[object]):
    kind = serializers.ChoiceField(["refund", "capture"])
    payment_method_id = serializers.CharField()
    method_kind = serializers.CharField()
    amount_minor = serializers.IntegerField()
    label = serializers.CharField(help_text="The method as people know it.")  # type: ignore[assignment]
    paid_before = serializers.BooleanField(help_text="Whether money may go there unasked.")


class PlanShape(serializers.Serializer[object]):
    tool = serializers.CharField()
    customer_id = serializers.CharField()
    order_id = serializers.CharField(allow_blank=True)
    currency = serializers.CharField(allow_blank=True)
    amount_minor = serializers.IntegerField(help_text="What moves or is promised, either way.")
    summary = serializers.CharField(help_text="What an approver reads.")
    done = serializers.CharField(help_text="What the customer reads once it is done.")
    status_before = serializers.CharField(allow_blank=True)
    order_value_minor = serializers.IntegerField()
    movements = MovementShape(many=True)
    promised = MovementShape(many=True)
    order_before = serializers.DictField()
    order_changes = serializers.DictField()
    customer_before = serializers.DictField()
    customer_changes = serializers.DictField()


class MovedShape(serializers.Serializer[object]):
    """Executed writes in the plan's currency, over 24 hours and over 30 days."""

    customer_day_minor = serializers.IntegerField()
    customer_month_minor = serializers.IntegerField()
    order_day_minor = serializers.IntegerField()
    order_month_minor = serializers.IntegerField()
    conversation_day_minor = serializers.IntegerField()
    conversation_month_minor = serializers.IntegerField()
    repeats = serializers.BooleanField(help_text="Whether an equal write was executed in 24 hours.")
    methods = serializers.DictField(
        child=serializers.ListField(child=serializers.IntegerField()), help_text="Day and month by payment method."
    )
    on_the_way = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Of an address: by currency, the value of the most valuable order not delivered yet.",
    )


class PreviewShape(serializers.Serializer[object]):
    plan = PlanShape()
    moved = MovedShape()
    digest = serializers.CharField(help_text="Of the plan.")
    basis = serializers.CharField(help_text="Of what has moved.")


class ProfileShape(serializers.Serializer[object]):
    profile = serializers.DictField()
    untrusted = serializers.ListField(
        child=serializers.CharField(), help_text="Fields last written by a conversation that held untrusted text."
    )


class FoundShape(serializers.Serializer[object]):
    reference = serializers.CharField()
    plan = PlanShape()
    replayed = serializers.BooleanField(help_text="Whether the key had posted it before.")


class MethodShape(serializers.Serializer[object]):
    payment_method_id = serializers.CharField()
    kind = serializers.ChoiceField(["card", "paypal", "gift_card"])
    brand = serializers.CharField(allow_null=True)
    last4 = serializers.CharField(allow_null=True)
    currency = serializers.CharField(allow_null=True)
    spendable_minor = serializers.IntegerField()


class OrderShape(serializers.Serializer[object]):
    order_id = serializers.CharField()
    customer_id = serializers.CharField()
    currency = serializers.CharField()
    status = serializers.CharField()
    address = serializers.DictField()
    items = serializers.ListField(child=serializers.DictField())
    tracking = serializers.ListField(child=serializers.CharField())
    note = serializers.CharField(allow_null=True)
    placed_at = serializers.CharField(allow_null=True)
    delivered_at = serializers.CharField(allow_null=True)
    cancel_reason = serializers.CharField(allow_null=True)
    returning = serializers.DictField(allow_null=True)
    exchanging = serializers.DictField(allow_null=True)
    balance_minor = serializers.IntegerField(help_text="Captured less refunded. " + _AMOUNT)
    held_minor = serializers.IntegerField(help_text="Reserved by requests, returns and exchanges.")
    payments = serializers.ListField(child=serializers.DictField())
    methods = serializers.DictField(child=MethodShape(), help_text="The customer's payment methods by id.")
    address_untrusted = serializers.BooleanField(help_text="Last written by a conversation with untrusted text.")


class PageShape(serializers.Serializer[object]):
    items = serializers.ListField(child=serializers.DictField())
    next_cursor = serializers.CharField(allow_null=True)
    hint = serializers.CharField()


class ProblemShape(serializers.Serializer[object]):
    code = serializers.CharField()
    message = serializers.CharField()
    fields = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()), required=False
    )
    rule = serializers.CharField(required=False, help_text="Of a refusal: which rule.")
    facts = serializers.DictField(required=False)
    preview = PreviewShape(required=False, help_text="Of `changed`: what would happen now.")
