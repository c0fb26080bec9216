"""What statements of our own save beside the mapper's, for the paths that every decision and every execution takes:
`python -m bench.statements`. One process, one connection, a request at a time."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import django

from base.home import REPOSITORY
from bench import report
from bench.servers import running

ROUNDS = 300


def measure(rounds: int) -> dict[str, list[float]]:
    """Milliseconds, as the mapper does it and by our own statement. Runs in a product's process."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    from approvals.models import Request
    from approvals.requests import rows
    from bench.waiting import fill

    fill(rounds, before=0)
    references = list(Request.objects.filter(state="pending").values_list("reference", flat=True)[:rounds])

    def mapped_lock(reference: str) -> Request:
        Request.objects.filter(pk=reference).values_list("customer_id").get()  # as the customer's lock comes first
        return Request.objects.select_for_update().get(pk=reference)

    def mapped_change(request: Request) -> None:
        mine = Request.objects.filter(pk=request.pk, revision=request.revision, state__in=["pending"])
        mine.update(state="pending", ended_reason="measured")
        request.refresh_from_db()

    def own_change(request: Request) -> None:
        rows.change(request, ["pending"], {"state": "pending", "ended_reason": "measured"})

    found = list(Request.objects.filter(pk__in=references))
    return {
        "lock a request and read it": [_median(mapped_lock, references), _median(rows.lock, references)],
        "change a request and read it": [_median(mapped_change, found), _median(own_change, found)],
    }


def _median(work: Callable[[Any], object], given: Sequence[Any]) -> float:
    from django.db import transaction

    times = []
    for one in given:
        with transaction.atomic():
            began = time.perf_counter()
            work(one)
            times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def main() -> None:
    """Measure and write the table into docs/performance.md."""
    parser = argparse.ArgumentParser("python -m bench.statements")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--dry", action="store_true", help="print only, leave docs/performance.md as it is")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.rounds)))  # noqa: T201 - read by the process that began it
        return
    command = [sys.executable, "-m", "bench.statements", "--measure", "--rounds", str(options.rounds)]
    with running(customers=1) as servers:
        done = subprocess.run(command, env=servers.environ, cwd=REPOSITORY, text=True, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    table = [["To", "by the mapper, ms", "by our statement, ms", "ratio"]]
    for name, (mapped, own) in json.loads(done.stdout).items():
        table.append([name, f"{mapped:.2f}", f"{own:.2f}", f"{mapped / own:.1f}"])
    report.write("statements", f"{report.machine()}.\n\n{report.markdown(table)}", dry=options.dry)


if __name__ == "__main__":
    main()
