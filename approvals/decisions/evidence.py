"""What people looked at before they decided: kept with the decision, and flagged where it was too little."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from django.db.models.functions import Greatest
from django.utils import timezone

from approvals.models import CardView, Request, Staff
from base import sql

WORDS_PER_SECOND = 100
"""Of what was shown as it is stored, names of fields too: so fast that only what nobody can have read is flagged."""
LEAST_SECONDS = 2
MOST_SECONDS = 24 * 3600
REQUIRED = {"flag": CardView.Card.CASE, "untrusted_text": CardView.Card.CONVERSATION}
"""By rule, the card that shows why it asks: who has not opened it cannot approve on the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How long somebody had a request's page and its cards open; `seconds` is None where they used no page."""

    seconds: int | None = None
    cards: dict[str, int] = field(default_factory=dict)


def opened(*, request: Request, staff: Staff, card: str, seconds: int) -> None:
    """A card came into view, or has been there for so long; the browser tells more than once."""
    view, _ = CardView.objects.get_or_create(request=request, revision=request.revision, staff=staff, card=card)
    CardView.objects.filter(pk=view.pk).update(seconds=Greatest("seconds", min(max(seconds, 0), MOST_SECONDS)))


def reading_of(request: Request, staff: Staff) -> Reading:
    """What this person has seen of the revision that stands."""
    views = sql.rows(_VIEWS, [request.reference, request.revision, staff.pk])
    if not views:
        return Reading()
    passed = int((timezone.now() - min(opened_at for _, _, opened_at in views)).total_seconds())
    return Reading(seconds=passed, cards={card: min(seconds, passed) for card, seconds, _ in views})


_VIEWS = """
    SELECT card, seconds, opened_at FROM approvals_cardview WHERE request_id = %s AND revision = %s AND staff_id = %s
"""


def unopened(request: Request, reading: Reading) -> CardView.Card | None:
    """The card that this request's rule requires and that was not opened."""
    card = REQUIRED.get(request.rule)
    return card if card is not None and card not in reading.cards else None


def is_too_fast(reading: Reading, shown: Any) -> bool:
    """Whether nobody can have read in this time what the page showed."""
    words = len(re.findall(r"\w+", json.dumps(shown, default=str)))
    return reading.seconds is not None and reading.seconds < max(LEAST_SECONDS, words // WORDS_PER_SECOND)
