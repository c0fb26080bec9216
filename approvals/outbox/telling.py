"""Which news of a request leaves the console."""

from typing import Any

from approvals.models import Request
from approvals.outbox.delivery import tell_colleagues

_SENTENCES = {
    "pending": "waits for a decision",
    "undone": "waits for a decision again",
    "lowered": "was lowered by a colleague",
    "failed": "was approved and could not be carried out",
    "stale": "was approved, and something has changed since",
}


def tell_colleagues_of(sender: Any, *, request: Request, what: str = "", **_: Any) -> None:
    """In the transaction of the news itself."""
    about = what or request.state
    if sentence := _SENTENCES.get(about):
        tell_colleagues(request, f"{about}-{request.approvals_needed}", sentence)
