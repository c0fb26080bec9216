"""A model's assertion that something was done is checked against what was: the ledger has the last word."""

import re
import uuid

from django.db.models import Q

from agents.models import Message

# Words with which a model asserts that something has been done. The ledger decides whether it has.
_CLAIMS = re.compile(
    r"\b(?:(?:i(?:'|’)ve|i have|we(?:'|’)ve|we have|have been|has been|was|were|is now|successfully)"
    r"\s+(?:now\s+|just\s+)?"
    r"(?:refunded|cancelled|canceled|exchanged|issued|credited|reversed)|(?:refund|cancellation|exchange)\s+"
    r"(?:has been|was|is)\s+(?:processed|completed|done|executed))\b",
    re.IGNORECASE,
)


def asserts_an_effect(text: str) -> bool:
    """Whether a reply says that money moved or an order changed."""
    return bool(_CLAIMS.search(text))


NOTHING_CHANGED = (
    "To be clear: nothing has been changed on your account in this conversation so far. "
    "A message like this one appears for everything that is carried out."
)


def anything_executed(conversation_id: uuid.UUID) -> bool:
    """Whether this conversation has led to an executed write."""
    done = Q(key__startswith="executed:") | Q(key__startswith="request:", key__endswith=":executed")
    return Message.objects.filter(done, conversation_id=conversation_id, author=Message.Author.NOTICE).exists()
