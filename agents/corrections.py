"""A model's claim that something was done is checked against what was: the ledger has the last word."""

import re
import uuid

from django.db.models import Q

from agents.models import Message
from agents.notices import notice

# Words with which a model claims that something has been done. The ledger decides whether it has.
_CLAIMS = re.compile(
    r"\b(?:(?:i(?:'|’)ve|i have|we(?:'|’)ve|we have|have been|has been|was|were|is now|successfully)"
    r"\s+(?:now\s+|just\s+)?"
    r"(?:refunded|cancelled|canceled|exchanged|issued|credited|reversed)|(?:refund|cancellation|exchange)\s+"
    r"(?:has been|was|is)\s+(?:processed|completed|done|executed))\b",
    re.IGNORECASE,
)


def claims_an_effect(text: str) -> bool:
    """Whether a reply says that money moved or an order changed."""
    return bool(_CLAIMS.search(text))


def correct_claims(conversation_id: uuid.UUID, turn_id: uuid.UUID, text: str, *, something_executed: bool) -> None:
    """Follow a claim that the customer's ledger does not bear out with what the ledger says."""
    if claims_an_effect(text) and not something_executed:
        notice(
            conversation_id,
            "To be clear: nothing has been changed on your account in this conversation so far. "
            "A message like this one appears for everything that is carried out.",
            key=f"correction:{turn_id}",
        )


def anything_executed(conversation_id: uuid.UUID) -> bool:
    """Whether this conversation has led to an executed write."""
    done = Q(key__startswith="executed:") | Q(key__startswith="request:", key__endswith=":executed")
    return Message.objects.filter(done, conversation_id=conversation_id, author=Message.Author.NOTICE).exists()
