"""The customer's own requests: what waits for a person, and taking it back."""

import datetime as dt
from typing import Annotated, Any

from pydantic import Field

from agents.states import STATES
from agents.tools.registry import Acted, Arguments, Caller, Tool
from approvals.errors import Conflict
from approvals.models import Request
from approvals.requests.lifecycle import withdraw
from base.keyset import Keyset
from ledger.errors import Refused
from ledger.payouts.words import money_of
from ledger.shop.lists import MOST_ITEMS, cursor_checked, page

_NEWEST = Keyset({"created_at": dt.datetime, "reference": str}, downwards=True)


class ListMyRequests(Arguments):
    cursor: str | None = Field(default=None, description="next_cursor of an earlier result.")


class WithdrawRequest(Arguments):
    reference: Annotated[str, Field(min_length=1, max_length=40, description="R- and eight characters.")]


def _list(caller: Caller, args: ListMyRequests) -> dict[str, Any]:
    """Newest first, without anything that staff wrote."""
    found = Request.objects.filter(customer_id=caller.customer_id)
    with cursor_checked():
        found = _NEWEST.after(found, args.cursor)
    requests = list(found[: MOST_ITEMS + 1])
    money = money_of(caller.customer_id, [request.entry_reference for request in requests if request.entry_reference])
    rows = [_row(request, money.get(request.entry_reference)) for request in requests]
    return page(rows, lambda row: _NEWEST.write([row["created_at"], row["reference"]]), "list_my_requests")


def _row(request: Request, money: list[str] | None) -> dict[str, Any]:
    """`money`: how far the bank is with each amount that it moved."""
    row = {
        "reference": request.reference,
        "state": STATES[request.state],
        "summary": request.preview["summary"],
        "created_at": request.created_at.isoformat(),
    }
    executed = {"executed_as": request.entry_reference} if request.entry_reference else {}
    return row | executed | ({"money": money} if money else {})


def _withdraw(caller: Caller, args: WithdrawRequest) -> Acted:
    if not Request.objects.filter(reference=args.reference, customer_id=caller.customer_id).exists():
        raise Refused(
            "not_found",
            f"No request {args.reference} in this account. Call list_my_requests to see the customer's requests.",
        )
    try:
        request = withdraw(reference=args.reference, customer_id=caller.customer_id)
    except Conflict as conflict:
        raise Refused(
            "status",
            f"Request {args.reference} is {STATES[conflict.state]} already and cannot be withdrawn. Tell the customer; "
            "list_my_requests shows what became of it.",
        ) from conflict
    return Acted(reference=request.reference, message=f"Withdrew request {request.reference}. Nothing was changed.")


TOOLS = (
    Tool(
        name="list_my_requests",
        description="The customer's own requests, newest first: what waits for a person and what became of the others.",
        arguments=ListMyRequests,
        lookup=_list,
    ),
    Tool(
        name="withdraw_request",
        description="Take back one of the customer's own requests that waits for a person, when the customer asks to.",
        arguments=WithdrawRequest,
        act=_withdraw,
    ),
)
