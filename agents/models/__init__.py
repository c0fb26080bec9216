"""The tables of this app, by topic. Everybody imports them from here."""

from agents.models.conversations import Conversation, HandOff, Message, Session, UntrustedText
from agents.models.definitions import Definition, Pin
from agents.models.turns import Limit, ToolCall, Turn

__all__ = [
    "Conversation",
    "Definition",
    "HandOff",
    "Limit",
    "Message",
    "Pin",
    "Session",
    "ToolCall",
    "Turn",
    "UntrustedText",
]
