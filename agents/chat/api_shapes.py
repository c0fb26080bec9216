"""The bodies of the chat API: what comes in is checked by these, what goes out is described by them."""

from rest_framework import serializers

from agents.models import Conversation, Turn
from agents.states import STATES
from base.http.parsing import StrictSerializer, Text

MOST_CHARACTERS = 8_000


class NewMessage(StrictSerializer):
    client_id = Text(most=100, help_text="Made by the client; the same again is the same message.")
    text = Text(most=MOST_CHARACTERS)


class PostedShape(serializers.Serializer[object]):
    message_id = serializers.CharField()
    turn_id = serializers.UUIDField(help_text="The turn that will read this message.")


class MessageShape(serializers.Serializer[object]):
    id = serializers.CharField()
    author = serializers.ChoiceField(["customer", "assistant", "staff", "notice"])
    text = serializers.CharField()
    html = serializers.CharField(required=False, help_text="The assistant's Markdown as sanitised HTML.")
    name = serializers.CharField(required=False, help_text="Of the member of staff who wrote it.")
    created_at = serializers.DateTimeField()


class RequestShape(serializers.Serializer[object]):
    reference = serializers.CharField()
    summary = serializers.CharField()
    state = serializers.ChoiceField(sorted(set(STATES.values())))


class ConversationShape(serializers.Serializer[object]):
    id = serializers.UUIDField()
    state = serializers.ChoiceField(Conversation.State.values)
    staff = serializers.CharField(required=False, help_text="Who answers, while it is with staff.")
    messages = MessageShape(many=True)
    requests = RequestShape(many=True, required=False)
    last_event_id = serializers.CharField(required=False)


class ListedConversation(serializers.Serializer[object]):
    id = serializers.UUIDField()
    state = serializers.ChoiceField(Conversation.State.values)
    created_at = serializers.DateTimeField()


class ConversationPage(serializers.Serializer[object]):
    results = ListedConversation(many=True)
    next = serializers.URLField(allow_null=True)


class TurnShape(serializers.Serializer[object]):
    state = serializers.ChoiceField(Turn.State.values)
    reason = serializers.CharField(allow_null=True)
    steps = serializers.IntegerField()
    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
