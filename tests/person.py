"""A customer's or an approver's request as a process of its own, so that it can die in the middle.

`python -m tests.person post CONVERSATION CLIENT_ID TEXT` or `... approve REFERENCE USERNAME`.
"""

import sys
import uuid

import django


def _post(conversation: str, client_id: str, text: str) -> None:
    from agents import chat

    chat.post_message(conversation_id=uuid.UUID(conversation), session_id="s1", client_id=client_id, text=text)


def _approve(reference: str, username: str) -> None:
    from approvals.decisions import decide
    from approvals.models import Request, Staff

    request = Request.objects.get(reference=reference)
    staff = Staff.objects.get(username=username)
    decide(reference=reference, staff=staff, verdict="approve", digest=request.digest, shown=request.preview)


if __name__ == "__main__":
    django.setup()
    {"post": _post, "approve": _approve}[sys.argv[1]](*sys.argv[2:])
