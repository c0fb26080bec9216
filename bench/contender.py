"""What every contender is: a process that answers each number on stdin by running so many turns.

Standard library only: contenders run in different virtual environments.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

THREADS = 8
WARM_UP = 3 * THREADS
FIRST_ORDER = 100_000
Turn = Callable[[int], None]


def words(number: int) -> str:
    """What the customer writes; the stand-in's script for this turn is found by the order's number."""
    return f"Please see to my order {order_of(number)}."


def order_of(number: int) -> str:
    """The order that a turn is about."""
    return str(FIRST_ORDER + number)


def look_up(number: int) -> dict[str, Any]:
    """A call that any customer may make."""
    return {"tool": "get_order", "input": {"order_id": order_of(number)}}


def refund(number: int) -> dict[str, Any]:
    """A call that waits for a person, because of its amount."""
    return {
        "tool": "issue_refund",
        "input": {"order_id": order_of(number), "amount_minor": 6_000, "reason": "damaged"},
    }


def definition() -> dict[str, Any]:
    """The system prompt, tools and model that every contender sends."""
    found: dict[str, Any] = json.loads(Path(os.environ["PLACET_HOME"], "definition.json").read_text())
    return found


def serve(turn: Turn, call: Callable[[int], dict[str, Any]]) -> None:
    """Run turns in which the model makes `call`; say how long they took and this process's CPU time."""
    numbers = count()
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(turn, _scripted(call, [next(numbers) for _ in range(WARM_UP)])))
        print(json.dumps({"ready": True}), flush=True)  # noqa: T201 - the controller reads it
        for line in sys.stdin:
            batch = _scripted(call, [next(numbers) for _ in range(int(line))])
            began, cpu = time.perf_counter(), time.process_time()
            list(pool.map(turn, batch))
            took = {"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu}
            print(json.dumps(took), flush=True)  # noqa: T201


def _scripted(call: Callable[[int], dict[str, Any]], numbers: list[int]) -> list[int]:
    """Tell the stand-in what to answer in these turns: the call, then a sentence."""
    opener = build_opener(ProxyHandler({}))
    url = os.environ["ANTHROPIC_BASE_URL"] + "/standin/script"
    for number in numbers:
        script = {"match": order_of(number), "replay": [call(number)], "final": "It is on its way; anything else?"}
        opener.open(Request(url, json.dumps(script).encode()), timeout=10).close()  # noqa: S310 - our own server
    return numbers
