"""What the customer and the model hear of money on its way: the bank has it, has paid it, or could not."""

import uuid
from typing import Any

from agents.chat.notices import notice
from agents.models import Message
from base.money import show
from ledger.payouts.sending import Told

_CUSTOMER = {
    ("refund", "sent"): "Reference {entry}: {amount} was sent to your bank for {label}. "
    "It can take a few days to arrive.",
    ("refund", "settled"): "Reference {entry}: your bank has paid {amount} to {label}.",
    ("refund", "failed"): "Reference {entry}: {amount} could not be paid to {label}. The money is not lost: "
    "it stands on your order again, and a person from our team will look into it.",
    ("refund", "recalled"): "Reference {entry}: the refund of {amount} to {label} was taken back before it was sent. "
    "The money stands on your order again, and a person from our team will look into it.",
    ("capture", "recalled"): "Reference {entry}: the charge of {amount} to {label} was taken back before it was made. "
    "A person from our team will look into it.",
    ("capture", "failed"): "Reference {entry}: {amount} could not be charged to {label}. "
    "A person from our team will look into it.",
}
_MODEL = {
    "failed": "Payout of {entry}: {amount} failed at the payment provider; a person of the shop will look into it.",
    "recalled": "Payout of {entry}: a person of the shop took {amount} back before it was sent, and will look into it.",
}


def tell_of_payout(sender: Any, *, told: Told, was: str, state: str, **_: Any) -> None:
    """In the transaction of the change. What settles at once was told when it was executed."""
    asked = told.instruction
    sentence = _CUSTOMER.get((asked.kind, state))
    conversation_id = _conversation_of(asked.entry)
    if sentence is None or conversation_id is None or (state == "settled" and was != "sent"):
        return
    words = {"entry": asked.entry, "amount": show(asked.amount_minor, asked.currency), "label": told.label}
    notice(conversation_id, sentence.format(**words), key=f"payout:{asked.transfer_id}:{state}")
    if state in _MODEL:
        Message.objects.create(
            conversation_id=conversation_id,
            author=Message.Author.OPERATOR,
            text=_MODEL[state].format(**words),
            in_history=True,
        )


def _conversation_of(entry: str) -> uuid.UUID | None:
    """Where the customer was told of the write."""
    told = Message.objects.filter(key=f"executed:{entry}", author=Message.Author.NOTICE)
    return told.values_list("conversation_id", flat=True).first()
