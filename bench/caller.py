"""One caller of `bench.dispatch`: `python -m bench.caller placet|orm FIRST`. Each number on stdin is answered by so
many small refunds, one after the other, on orders that are this caller's own."""

import json
import os
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import django

from bench.contender import order_of
from bench.shop import customer_of

WRITES_PER_CUSTOMER = 60
Write = Callable[[], Any]


def placet(first: int) -> Iterator[Write]:
    """Audited refunds through dispatch; conversations, turns and the model's replies are made beforehand."""
    from django.conf import settings

    from agents.chat import conversations
    from agents.dispatch.dispatch import dispatch
    from agents.dispatch.results import Call
    from agents.models import Message
    from agents.turns import claims

    settings.PLACET = settings.PLACET.model_copy(update={"turn_writes": 1_000_000})
    number = first
    while True:
        conversation = conversations.begin(customer_id=customer_of(number), session_id="bench")
        conversations.post_message(
            conversation_id=conversation.pk, session_id="bench", client_id=uuid.uuid4().hex, text="refund me"
        )
        turn = claims.claim("bench")
        while turn is None or turn.conversation_id != conversation.pk:
            turn = claims.claim("bench")
        message = Message.objects.create(
            conversation_id=turn.conversation_id, turn_id=turn.turn_id, author="assistant", step=1, content="[]"
        )
        for block in range(WRITES_PER_CUSTOMER):
            # Amounts differ, because the same again would ask.
            arguments = {"order_id": order_of(number), "amount_minor": block + 1, "reason": "damaged"}
            call = Call(
                turn=turn, message_id=message.pk, block=block, tool_use_id=f"toolu_{block}", name="issue_refund",
                input=arguments,
            )  # fmt: skip
            yield partial(_refund, dispatch, call)
        number += 1


def _refund(dispatch: Callable[[Any], Any], call: Any) -> None:
    outcome = dispatch(call)
    assert outcome.decision == "executed", outcome


def orm(first: int) -> Iterator[Write]:
    """The same minimum in plain Django: lock the order, the transfer, the event, the order's balance."""
    from django.db import models, transaction

    from audit.models import Detail, Event
    from ledger.models import Account, Entry, Order, Transfer

    def refund(number: int, amount: int) -> None:
        with transaction.atomic():
            order = Order.objects.select_for_update().select_related("customer").get(pk=order_of(number))
            account = Account.objects.get(order=order)
            captured = Transfer.objects.filter(order=order, kind="capture").first()
            assert captured is not None
            assert account.balance_minor - account.held_minor >= amount
            entry = Entry.objects.create(
                reference=f"T-{uuid.uuid4().hex[:12]}", key=uuid.uuid4().hex, customer=order.customer, order=order,
                tool="issue_refund", amount_minor=amount, currency=order.currency, plan={}, credential_id="bench",
            )  # fmt: skip
            Transfer.objects.create(
                kind="refund", debit=account, credit_id=captured.debit_id, amount_minor=amount, entry=entry,
                currency=order.currency, customer=order.customer, order=order,
                payment_method_id=captured.payment_method_id,
            )  # fmt: skip
            event = Event.objects.create(
                kind="dispatch", actor_kind="customer", actor_id=order.customer_id, decision="executed",
                amount_minor=amount, currency=order.currency, detail_hash="0" * 64, order_id=order.pk,
            )  # fmt: skip
            Detail.objects.create(event=event, salt=b"0" * 16, body="{}")
            Order.objects.filter(pk=order.pk).update(touched_at=models.functions.Now())

    number = first
    while True:
        for amount in range(1, WRITES_PER_CUSTOMER + 1):
            yield partial(refund, number, amount)
        number += 1


def main() -> None:
    """Prepare what the next batch needs, say so, and run it when told."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    kind, first = sys.argv[1], int(sys.argv[2])
    writes = {"placet": placet, "orm": orm}[kind](first)
    print(json.dumps({"ready": True}), flush=True)  # noqa: T201 - the controller reads it
    for line in sys.stdin:
        batch = [next(writes) for _ in range(int(line))]
        print(json.dumps({"prepared": True}), flush=True)  # noqa: T201
        sys.stdin.readline()
        began = time.perf_counter()
        for write in batch:
            write()
        print(json.dumps({"seconds": time.perf_counter() - began}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
