"""Placet's own turn, as the web server and a worker run it, in one process; with `approval`, to its execution."""

import os
import sys
import uuid

import django

from bench.contender import look_up, refund, serve, words
from bench.shop import customer_of


def main() -> None:
    """Every turn is a new customer's in a new conversation, so no limit of a customer's is reached."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    from agents.chat import conversations
    from agents.execution import execute
    from agents.turns import claims, loop
    from agents.turns.pool import give_back_connection
    from approvals.decisions.deciding import decide
    from approvals.models import Request, Staff

    approval = sys.argv[1:] == ["approval"]
    ada = Staff.objects.get(username="ada")
    give_back_connection()

    def turn(number: int) -> None:
        conversation = conversations.begin(customer_id=customer_of(number), session_id="bench")
        conversations.post_message(
            conversation_id=conversation.pk, session_id="bench", client_id=uuid.uuid4().hex, text=words(number)
        )
        while (claimed := claims.claim("bench")) is None:
            pass
        loop.run(claimed)
        if approval:
            _approve(Request.objects.get(conversation_id=claimed.conversation_id))
        give_back_connection()

    def _approve(request: Request) -> None:
        shown = {"preview": request.preview, "digest": request.digest, "rule": request.rule}
        decide(reference=request.pk, staff=ada, verdict="approve", digest=request.digest, shown=shown)
        assert execute.execute(request.pk)

    serve(turn, refund if approval else look_up)


if __name__ == "__main__":
    main()
