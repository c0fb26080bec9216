"""What the stand-in does about each kind of wish. Each function runs anew at every step; see conversation.py."""

import re
from typing import Any

from standins.model import reading, wording
from standins.model.conversation import Conversation, Say
from standins.model.finding import MAX_LISTED, WHOLE, find_items, find_method, find_order, named_method

COMMON_WORDS = {
    "how", "do", "does", "can", "i", "you", "your", "the", "a", "an", "is", "are", "have", "any", "sell",
    "what", "much", "for", "my", "me", "of", "to", "in", "price",
}  # fmt: skip
MISTAKE = re.compile(r"mistake|accident|by error|wrong(ly)? order|didn'?t mean", re.I)
UNWANTED = re.compile(r"no longer|(don'?t|do not) (need|want)|changed my mind|not need|unwanted", re.I)


def greet(conversation: Conversation) -> None:
    """Says who answers and what it can do."""
    raise Say(wording.GREETING)


def thanks(conversation: Conversation) -> None:
    """Answers thanks."""
    raise Say(wording.THANKS)


def unclear(conversation: Conversation) -> None:
    """Asks what is meant."""
    raise Say(wording.UNCLEAR)


def status(conversation: Conversation) -> None:
    """Tells how an order stands."""
    raise Say(wording.order_status(find_order(conversation)))


def orders(conversation: Conversation) -> None:
    """Lists the orders; one that was named is told about instead."""
    if reading.order_id(conversation.ask):
        status(conversation)
    lines = [wording.order_line(order) for order in conversation.pages("list_my_orders")]
    if not lines:
        raise Say("I don't see any orders in your account.")
    more = f"There are {len(lines) - MAX_LISTED} more." if len(lines) > MAX_LISTED else ""
    raise Say(wording.bullets("These are your orders:", lines[:MAX_LISTED], more))


def refund(conversation: Conversation) -> None:
    """Refunds what was named, or all that can be."""
    named = reading.amount(conversation.wish)
    order = find_order(conversation, total=named)
    currency = str(order.get("currency", ""))
    amount_minor = _in_minor(named, order, currency) if named else _whole(conversation, order, currency)
    reasons = [reading.reason(text) for text in (conversation.wish, *reversed(conversation.said[-4:]))]
    reason = next((word for word in reasons if word != "other"), "other")
    conversation.write("issue_refund", order_id=order["order_id"], amount_minor=amount_minor, reason=reason)


def _in_minor(named: reading.Amount, order: dict[str, Any], currency: str) -> int:
    if not named.fits(currency):
        raise Say(f"Order {order['order_id']} was paid in {currency}. How much in {currency} would you like back?")
    amount_minor = named.minor(currency)
    if amount_minor is None:
        raise Say(f"{currency} has no such fraction. How much exactly would you like back?")
    return amount_minor


def _whole(conversation: Conversation, order: dict[str, Any], currency: str) -> int:
    refundable = order.get("refundable_minor")
    if not WHOLE.search(conversation.wish) or type(refundable) is not int:
        known = f" Up to {reading.money(refundable, currency)} can be refunded." if refundable else ""
        raise Say(f"I can look into that for order {order['order_id']}.{known} How much would you like back?")
    if refundable <= 0:
        raise Say(f"Nothing is left to refund on order {order['order_id']}.")
    return refundable


def cancel(conversation: Conversation) -> None:
    """Cancels an order, for one of the two reasons that the shop takes."""
    order = find_order(conversation)
    if MISTAKE.search(conversation.wish):
        reason = "ordered_by_mistake"
    elif UNWANTED.search(conversation.wish):
        reason = "no_longer_needed"
    else:
        raise Say(f"May I ask why: is order {order['order_id']} not needed any more, or a mistake?")
    conversation.write("cancel_order", order_id=order["order_id"], reason=reason)


def returns(conversation: Conversation) -> None:
    """Returns items, to the method that paid unless another is named."""
    order = find_order(conversation)
    items = find_items(conversation, order)
    conversation.write(
        "return_items", order_id=order["order_id"], item_ids=items, payment_method_id=find_method(conversation, order)
    )


def exchange(conversation: Conversation) -> None:
    """Exchanges delivered items, or changes those of an order that has not been sent."""
    order = find_order(conversation)
    named = reading.LONG_ID.findall(conversation.wish) or re.findall(r"\bitem[- _]?(\w*\d\w*)", conversation.wish, re.I)
    if len(named) < 2 or len(named) % 2:
        raise Say("Which item number shall I exchange, and for which other item number?")
    half = len(named) // 2
    tool = "change_order_items" if order.get("status") == "pending" else "exchange_items"
    method = find_method(conversation, order)
    conversation.write(
        tool,
        order_id=order["order_id"],
        item_ids=named[:half],
        new_item_ids=named[half:],
        payment_method_id=method,
    )


def address(conversation: Conversation) -> None:
    """Changes where an order goes, or the customer's own address."""
    new = reading.address(conversation.wish)
    if new is None:
        raise Say("What is the new address? Please write: street, city, region, postal code, country.")
    before = conversation.wish[: conversation.wish.find(new["line1"])]
    if re.search(r"\border|deliver|ship", before, re.I):
        conversation.write("change_order_address", order_id=find_order(conversation)["order_id"], **new)
    conversation.write("change_my_address", **new)


def payment(conversation: Conversation) -> None:
    """Moves an order to another of the customer's payment methods."""
    order = find_order(conversation)
    method = named_method(conversation)
    if method is None:
        raise Say("Which of your payment methods should it be: card, PayPal or gift card?")
    conversation.write("change_order_payment", order_id=order["order_id"], payment_method_id=method)


def requests(conversation: Conversation) -> None:
    """Tells how the customer's requests stand."""
    lines, known = [], set()
    for request in conversation.pages("list_my_requests"):
        known.add(str(request.get("reference")))
        lines.append(wording.request_line(request))
    lines += wording.note_lines(conversation.notes, known)
    if not lines:
        raise Say("I don't see any requests of yours at the moment.")
    raise Say(wording.bullets("This is how your requests stand:", lines[:MAX_LISTED]))


def withdraw(conversation: Conversation) -> None:
    """Withdraws a request that waits; the only one, where none is named."""
    reference = reading.reference(conversation.wish)
    if reference is None:
        mine = conversation.pages("list_my_requests")
        waiting = [str(request.get("reference")) for request in mine if request.get("state") == "waiting"]
        if not waiting:
            raise Say("I don't see a request of yours that is still waiting.")
        if len(waiting) > 1:
            raise Say(f"Which of these requests shall I withdraw: {', '.join(waiting)}?")
        reference = waiting[0]
    conversation.write("withdraw_request", reference=reference)


def hand_off(conversation: Conversation) -> None:
    """Passes the conversation on to a person."""
    conversation.write("hand_off_to_human", summary=" / ".join(conversation.said[-3:])[:500])


def policy(conversation: Conversation) -> None:
    """Tells the refund policy as the shop gives it."""
    called = conversation.call("get_refund_policy")
    raise Say(wording.failed(called.text) if called.error else wording.told(called.value, called.text))


def profile(conversation: Conversation) -> None:
    """Tells what the account says."""
    raise Say("This is what I see in your account. " + wording.told(conversation.read("get_my_profile"), ""))


def products(conversation: Conversation) -> None:
    """Finds a product by number or by words."""
    if number := reading.LONG_ID.search(conversation.ask):
        raise Say(wording.told(conversation.read("get_product", product_id=number[0]), ""))
    names = [
        str(p.get("name")) for p in conversation.pages("list_products", query=_topic(conversation.ask)) if p.get("name")
    ]
    if not names:
        raise Say("I couldn't find a product like that. What is it called?")
    raise Say(wording.bullets("Here is what I found:", names[:MAX_LISTED]))


def help_articles(conversation: Conversation) -> None:
    """Answers from the first help article that fits."""
    found = conversation.read("search_help", query=_topic(conversation.ask)).get("items") or []
    name = next((item.get("name") for item in found if isinstance(item, dict)), None)
    if name is None:
        raise Say("I couldn't find that in our help pages. Shall I pass you on to a person?")
    called = conversation.call("read_help_article", name=name)
    raise Say(wording.failed(called.text) if called.error else wording.told(called.value, called.text))


def _topic(text: str) -> str:
    words = re.sub(r"[^\w\s-]", " ", text).split()
    return " ".join(word for word in words if word.lower() not in COMMON_WORDS)[:100]
