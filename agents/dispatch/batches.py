"""The calls of one reply: which run together, and what is answered for those that will not run any more."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

from agents.dispatch import results
from agents.dispatch.elsewhere import is_asked
from agents.dispatch.intents import intent_of
from agents.dispatch.results import Call, Outcome
from agents.tools.registry import tools
from agents.turns.pool import give_back_connection

MOST_AT_ONCE = 8


def batches(calls: Iterable[Call]) -> Iterator[list[Call]]:
    """Neighbouring reads that ask the shop elsewhere together, everything else alone and in order."""
    for together, run in groupby(calls, key=lambda call: is_asked(call.name) and not tools()[call.name].writes):
        found = list(run)
        yield from [found] if together else [[call] for call in found]


def at_once(calls: list[Call], work: Callable[[Call], Outcome]) -> None:
    """Dispatch a batch; each call in a thread and with a connection of its own where there are several."""
    if len(calls) == 1:
        work(calls[0])
        return

    def alone(call: Call) -> None:
        try:
            work(call)
        finally:
            give_back_connection()

    with ThreadPoolExecutor(min(len(calls), MOST_AT_ONCE)) as pool:
        list(pool.map(alone, calls))


def left_open(call: Call) -> Outcome:
    """The result of a call that will not be dispatched any more."""
    return results.unconfirmed(call) if is_asked(call.name) and intent_of(call) else results.cut()
