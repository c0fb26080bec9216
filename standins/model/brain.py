"""The stand-in's own replies: which intent a customer's sentence has, and the next step of it."""

import re
from collections.abc import Callable
from typing import Any

from standins.model import intents, wording
from standins.model.conversation import Conversation, Say, Step
from standins.model.reading import address, amount, order_id, reference
from standins.model.script import tool_use

Intent = Callable[[Conversation], None]

# The first line whose words occur in the sentence decides.
TABLE: list[tuple[re.Pattern[str], Intent]] = [
    (re.compile(pattern, re.I), intent)
    for pattern, intent in (
        (r"\b(human|(real|a) person|someone|manager|representative|staff|supervisor)\b", intents.hand_off),
        (r"\b(withdraw|take back|call off|never ?mind)\b", intents.withdraw),
        (r"cancel (my |the |that )?(refund|request|R-)", intents.withdraw),
        (r"status of (my|the|that) (refund|return|request)|\bR-[0-9A-Z]{6,10}\b", intents.requests),
        (r"(refund|request)s? (status|gone|decided|approved|through)|any news|my requests", intents.requests),
        (r"(where|what|how|when).{0,20}\bmy (refund|money)|has my (refund|request)", intents.requests),
        (r"(refund|return)s? (policy|rules|terms)|(how long|until when).*return", intents.policy),
        (r"can i (still )?return\b(?!.*\d)", intents.policy),
        (r"\b(my (profile|details|account|e-?mail)|payment methods)\b", intents.profile),
        (r"\baddress\b", intents.address),
        (r"\b(pay|payment|charge)\b.*\b(with|by|to|instead|method|change|card|paypal)\b", intents.payment),
        (r"\b(exchange|swap)\b", intents.exchange),
        (r"\bcancel", intents.cancel),
        (r"refund|money back|reimburse|compensat", intents.refund),
        (r"\breturn\b|send (it|them|this) back", intents.returns),
        (r"(\d|pounds?|dollars?|euros?|yen|quid) back\b", intents.refund),
        (r"(what|which).*\b(order|bought)|order history", intents.orders),
        (r"\b(my|all|list|show|recent|past|open) (\w+ )?orders\b", intents.orders),
        (r"\b(where|when|status|track\w*|arriv\w*|deliver\w*|shipped|late|orders?)\b", intents.status),
        (r"\b(products?|sell|stock|available|looking for|price|how much|do you have)\b", intents.products),
        (r"\b(thanks?|thank you|cheers|great|perfect|bye)\b", intents.thanks),
        (r"^\W*(hi|hello|hey|good (morning|afternoon|evening)|who are you)\b", intents.greet),
        (r"what can you do", intents.greet),
        (r"\b(how (do|can|does)|help|faq|why|do you|what (is|are) your)\b", intents.help_articles),
    )
]
DETAILS = re.compile(
    r"\b(yes|please|whole|all|everything|mistake|need|damaged|broken|late|wrong|last|latest|paypal|card)\b",
    re.I,
)


def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The content of the next reply."""
    conversation = Conversation(request)
    try:
        choose(conversation)(conversation)
    except Step as step:
        return [tool_use(step.tool, step.arguments)]
    except Say as say:
        return [{"type": "text", "text": str(say)}]
    return [{"type": "text", "text": wording.UNCLEAR}]


def choose(conversation: Conversation) -> Intent:
    """The intent of the newest sentence; an answer to our question keeps the intent that was asked about."""
    found = _intent(conversation.ask)
    if conversation.asked_back and _is_detail(conversation.ask):
        for depth, text in enumerate(reversed(conversation.said[:-1])):
            if earlier := _intent(text):
                conversation.inherit(depth + 1)
                return earlier
    return found or intents.unclear


def _intent(text: str) -> Intent | None:
    return next((intent for pattern, intent in TABLE if pattern.search(text)), None)


def _is_detail(text: str) -> bool:
    """Whether the sentence is an answer and not a new wish: an id, an amount, a reason."""
    bare = re.fullmatch(r"\W*(it'?s |order |number |the |no\.? )*#?\w*\d\w*\W*", text, re.I)
    given = order_id(text) or amount(text) or reference(text) or address(text) or DETAILS.search(text)
    return bool(bare or (given and _intent(text) in (None, intents.status, intents.thanks)))
