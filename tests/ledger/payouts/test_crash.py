"""The process dies around the call of the provider: each payout is paid once all the same, and any
mixture of faults, deaths and reports ends with one effect per key, as the books say."""

import random
import signal
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from agents.dispatch.dispatch import dispatch
from ledger.access.staff import as_staff
from ledger.models import Payout, Transfer
from ledger.payouts import due, sending
from tests.conftest import make_call
from tests.ledger.payouts.test_sending import make_due
from tests.support import cast
from tests.support.cast import begin_turn, seen_by_staff
from tests.support.provider import SECRET, Provider, deliver
from tests.support.servers import product_env
from tests.support.warm import start
from tests.support.workers import carry_out_payouts

FAULTS = ["unavailable", "error_after", "drop_after", "late", "decline", "twice", ""]


def refund_some(count: int) -> None:
    as_staff(cast.fill_shop)
    turn = begin_turn()
    for step in range(1, count + 1):
        arguments = {"order_id": "4471", "amount_minor": 100 + step, "reason": "damaged"}
        assert dispatch(make_call(turn, step, "issue_refund", arguments)).decision == "executed"


def agree(provider: Provider) -> None:
    """The provider's effects per key are the books' refunds per key: one each, none where it was reversed."""
    rows = seen_by_staff(lambda: list(Payout.objects.values_list("key", "state", "transfer__amount_minor")))
    assert {key: len(made) for key, made in provider.effects.items()} == {
        key: 1 for key, state, _ in rows if state != "failed"
    }
    kinds = Counter(seen_by_staff(lambda: list(Transfer.objects.values_list("kind", flat=True))))
    assert kinds["reversal"] == sum(state == "failed" for _, state, _ in rows)


@pytest.mark.parametrize("place", ["payout_claimed", "payout_answered"])
@pytest.mark.parametrize("keys_expire", [False, True])
def test_killed_around_the_call(
    committing_db: str, provider: Provider, tmp_path: Path, place: str, keys_expire: bool
) -> None:
    refund_some(1)
    [key] = seen_by_staff(lambda: list(Payout.objects.values_list("key", flat=True)))
    (tmp_path / "spent").mkdir()
    (tmp_path / f"{place}@{key}#00").write_text(str(int(signal.SIGKILL)))
    more = {"PLACET_PAYMENTS_URL": provider.url, "PLACET_PAYMENTS_SECRET": SECRET, "PLACET_FAILPOINTS": str(tmp_path)}
    environ = product_env(committing_db, DJANGO_SETTINGS_MODULE="config.settings", **more)
    worker = partial(start, carry_out_payouts, environ=environ, log=tmp_path / "worker.log")
    assert worker().wait() == -signal.SIGKILL
    left = seen_by_staff(lambda: Payout.objects.get())
    assert (left.state, left.attempts) == ("unknown", 1)
    assert len(provider.effects) == (place == "payout_answered")
    if keys_expire:
        provider.call("/provider/forget_keys", {})
    assert due.due() == []  # the dead one's lease still runs
    make_due()
    assert worker().wait() == 0
    assert seen_by_staff(lambda: Payout.objects.get()).state == "settled"
    agree(provider)


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(6))
def test_whatever_happens_there_is_one_effect_per_key(
    provider: Provider, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(sending, "reach", lambda name, key: dies(chance))
    refund_some(4)
    for _ in range(12):
        for fault in chance.sample(FAULTS, 2):
            provider.plan(fault or "none")
        make_due()
        try:
            due.carry_out_due()
        except Died:
            continue
        if events := provider.events:
            deliver(chance.choice(events))
    monkeypatch.undo()
    provider.call("/provider/forget_keys", {})
    settle(provider)
    agree(provider)


class Died(Exception):
    pass


def dies(chance: random.Random) -> None:
    if chance.random() < 0.3:
        raise Died


def settle(provider: Provider) -> None:
    """Time passes until nothing is on its way; planned faults are used up on the way."""
    sent = Payout.objects.filter(state="sent").values_list("provider_reference", flat=True)
    for _ in range(12):
        make_due()
        due.carry_out_due()
        for reference in seen_by_staff(lambda: list(sent.all())):
            provider.call("/provider/change", {"id": reference, "status": "succeeded"})
    assert not seen_by_staff(lambda: Payout.objects.exclude(state__in=["settled", "failed"]).exists())
