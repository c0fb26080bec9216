"""A replay that takes longer than a page should: how far it is travels with the page, sealed, and is kept nowhere."""

import datetime as dt
from collections import Counter
from dataclasses import asdict
from typing import Any

from django.core import signing

from approvals.policy.simulation import Changed, Simulation

SECONDS = 2.0
_SALT = "simulation of version {} by {}"
_OLDEST_SECONDS = 3600


def seal(found: Simulation, *, version: int, staff_id: int) -> str:
    """The state of a replay, for one person and one version."""
    state: dict[str, Any] = asdict(found)
    state["counts"] = [[*key, count] for key, count in found.counts.items()]
    state["money"] = [[*key, minor] for key, minor in found.money.items()]
    for row in state["changed"]:
        row["at"] = row["at"].isoformat()
    return signing.dumps(state, salt=_SALT.format(version, staff_id), compress=True)


def unseal(text: str, *, version: int, staff_id: int) -> Simulation:
    """The replay again. Raises signing.BadSignature where it is another's, forged or older than an hour."""
    state = signing.loads(text, salt=_SALT.format(version, staff_id), max_age=_OLDEST_SECONDS)
    state["counts"] = Counter({(before, after): count for before, after, count in state["counts"]})
    state["money"] = Counter({(before, after, currency): minor for before, after, currency, minor in state["money"]})
    state["changed"] = [Changed(**{**row, "at": dt.datetime.fromisoformat(row["at"])}) for row in state["changed"]]
    return Simulation(**state)
