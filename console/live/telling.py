"""The queue hears that something about a request has changed, once it is committed."""

from typing import Any

from agents.chat.stream import DESK, publish_on_commit
from approvals.models import Request


def tell_desk_of(sender: Any, *, request: Request, **_: Any) -> None:
    """News that the customer hears too."""
    tell_desk(sender, reference=request.reference)


def tell_desk(sender: Any, *, reference: str, **_: Any) -> None:
    """News of the console alone."""
    publish_on_commit(DESK, ("request", {"reference": reference}))
