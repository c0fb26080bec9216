"""Customers who all write at once: `python -m bench.crowd ONES CONVERSATIONS` says who waited how long.

ONES customers write one message each; before them one customer floods CONVERSATIONS conversations with three each.
All of it is written before a line on stdin begins the measurement, so that posting takes no part in it.
"""

import json
import os
import sys
import time
import uuid

import django
from django.utils import timezone

from bench.contender import order_of
from bench.shop import customer_of

MOST_SECONDS = 300
FLOODER = 0


def main() -> None:
    """Print the seconds from the beginning to a turn's end, for the flood and for everybody else."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    from agents.chat import conversations
    from agents.models import Turn

    def write(number: int, times: int = 1) -> uuid.UUID:
        conversation = conversations.begin(customer_id=customer_of(number), session_id="bench")
        for _ in range(times):
            conversations.post_message(
                conversation_id=conversation.pk,
                session_id="bench",
                client_id=uuid.uuid4().hex,
                text=f"Where is my order {order_of(number)}?",
            )
        return conversation.pk

    flood, ones = int(sys.argv[2]), int(sys.argv[1])
    posted = [write(FLOODER, times=3) for _ in range(flood)] + [write(1 + n) for n in range(ones)]
    print("posted", flush=True)  # noqa: T201 - the controller reads it
    sys.stdin.readline()
    began = timezone.now()
    mine = Turn.objects.filter(conversation_id__in=posted)
    deadline = time.monotonic() + MOST_SECONDS
    while mine.exclude(state="finished").exists() and time.monotonic() < deadline:
        time.sleep(0.5)
    waits: dict[str, list[float]] = {"flood": [], "ones": []}
    for turn in mine.exclude(finished_at=None):
        whose = "flood" if turn.customer_id == customer_of(FLOODER) else "ones"
        waits[whose].append((turn.finished_at - began).total_seconds() if turn.finished_at else 0.0)
    reasons = sorted(set(mine.values_list("reason", flat=True)))
    print(json.dumps(waits | {"reasons": reasons}), flush=True)  # noqa: T201 - the controller reads it


if __name__ == "__main__":
    main()
