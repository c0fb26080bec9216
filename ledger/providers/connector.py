"""From an instruction to a provider's objects, and back from an object to what it says."""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ledger.providers.amounts import NotPayable, from_provider, to_provider
from ledger.providers.calls import Api, Declined, Json, Resource

KEY = "placet_key"
"""The name under which an object of ours carries its key, to be found again by it."""
_MADE_UP = "pi_placet_"
_SETTLED = frozenset(["succeeded"])
_FAILED = frozenset(["failed", "canceled", "requires_payment_method"])
_DISPUTES = {"won": "won", "lost": "lost", "warning_closed": "won", "prevented": "won"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One payout as the provider is told it: the same at every attempt."""

    key: str
    kind: Literal["refund", "capture"]
    amount_minor: int
    currency: str
    source: str
    transfer_id: int
    entry: str
    order_id: str
    made_at: dt.datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Where a payout stands at the provider."""

    reference: str
    state: Literal["sent", "settled", "failed"]
    code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A refund, charge or dispute as the provider shows it; `key` is empty for what Placet did not ask for."""

    kind: Literal["refund", "charge", "dispute"]
    reference: str
    key: str
    sources: tuple[str, ...]
    """The payment's ids, as an intent and as a charge."""
    amount_minor: int
    currency: str
    status: str
    answer: Answer
    disputed: Literal["open", "won", "lost"] = "open"
    withdrawn: bool = True
    """Whether a dispute took money: an inquiry does not."""


class Connector:
    """Speaks to one provider. Every method may raise api.CallFailed."""

    def __init__(self, api: Api) -> None:
        self._api = api

    @property
    def name(self) -> str:
        return self._api.name

    def source_of(self, capture_id: int, reference: str | None) -> str:
        """The provider's id of a payment; the test provider takes one that is made up for an import without any."""
        if reference:
            return reference
        return f"{_MADE_UP}{capture_id}" if self._api.name == "test" else ""

    def send(self, instruction: Instruction) -> Answer:
        """Refund or charge, under the instruction's key."""
        if not instruction.source:
            raise Declined("no_provider_reference")
        if instruction.kind == "refund":
            made = self._api.create("refunds", _refund(instruction), instruction.key)
        else:
            made = self._api.create("payment_intents", self._charge(instruction), instruction.key)
        return answer_of(made)

    def look_up(self, instruction: Instruction) -> Answer | None:
        """What is there under the key; None when nothing is."""
        if not instruction.source:
            return None
        if instruction.kind == "refund":
            found = self._api.each("refunds", _of_payment(instruction.source))
        else:
            since = int((instruction.made_at - dt.timedelta(hours=1)).timestamp())
            found = self._api.each("payment_intents", {"created": {"gte": since}})
        return next((answer_of(each) for each in found if key_of(each) == instruction.key), None)

    def reports(self, since: dt.datetime) -> Iterator[Report]:
        """Every refund, own charge and dispute that the provider has since then, newest first."""
        window = {"created": {"gte": int(since.timestamp())}}
        resources: tuple[Resource, ...] = ("refunds", "payment_intents", "disputes")
        for resource in resources:
            for found in self._api.each(resource, window):
                if resource != "payment_intents" or key_of(found):
                    yield report_of(found)

    def _charge(self, instruction: Instruction) -> Json:
        """The card or account that paid before is charged, without the customer being there."""
        paid = self._api.get("payment_intents", instruction.source)
        who = {name: paid[name] for name in ("customer", "payment_method") if paid.get(name)}
        return {**_common(instruction), **who, "off_session": True, "confirm": True,
                "currency": instruction.currency.lower()}  # fmt: skip


def made_up(source: str) -> int | None:
    """The capture whose id `source_of` made up."""
    found = re.fullmatch(rf"{_MADE_UP}(\d{{1,18}})", source)
    return int(found[1]) if found else None


def _common(instruction: Instruction) -> Json:
    metadata = {
        KEY: instruction.key,
        "placet_transfer": str(instruction.transfer_id),
        "placet_entry": instruction.entry,
        "placet_order": instruction.order_id,
        "placet_currency": instruction.currency,
    }
    return {"amount": _amount(instruction), "metadata": metadata}


def _amount(instruction: Instruction) -> int:
    try:
        return to_provider(instruction.amount_minor, instruction.currency)
    except NotPayable as exc:
        raise Declined("amount_not_payable") from exc


def _refund(instruction: Instruction) -> Json:
    return {**_common(instruction), **_of_payment(instruction.source)}


def _of_payment(source: str) -> Json:
    return {"charge" if source.startswith(("ch_", "py_")) else "payment_intent": source}


def key_of(found: Json) -> str:
    """The key that an object of ours carries; empty for others."""
    return str((found.get("metadata") or {}).get(KEY, ""))


def answer_of(found: Json) -> Answer:
    """A refund's or payment's status, as ours."""
    status = found.get("status") or "succeeded"
    code = found.get("failure_reason") or (found.get("last_payment_error") or {}).get("code") or status
    if status in _FAILED:
        return Answer(reference=found["id"], state="failed", code=str(code)[:60])
    return Answer(reference=found["id"], state="settled" if status in _SETTLED else "sent")


def report_of(found: Json) -> Report:
    """An object of a webhook or a list."""
    kind: Literal["refund", "charge", "dispute"] = "charge" if found["object"] == "payment_intent" else found["object"]
    currency = found["currency"].upper()
    status = found.get("status") or "succeeded"
    return Report(
        kind=kind,
        reference=found["id"],
        key=key_of(found),
        sources=tuple(found[name] for name in ("payment_intent", "charge") if found.get(name)),
        amount_minor=from_provider(found["amount"], currency),
        currency=currency,
        status=status,
        answer=answer_of(found),
        disputed=_DISPUTES.get(status, "open"),  # type: ignore[arg-type]
        withdrawn=not status.startswith("warning_") and status != "prevented",
    )
