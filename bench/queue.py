"""What a page of the queue costs among 100 and among 100,000 waiting requests: `python -m bench.queue`.

The whole page is rendered by the product's own view, for a signed-in agent, in one process without HTTP. Each order
of the queue is measured on its first page and on one from its middle.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from typing import Any

import django
import psycopg

from base.home import REPOSITORY
from bench import report
from bench.servers import Servers, running
from run import roles

FEW, MANY = 100, 100_000
ROUNDS = 15


def measure(number: int, before: int, rounds: int) -> dict[str, float]:
    """Milliseconds of a page, by order and place, among so many waiting requests. Runs in a product's process."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    from django.test import Client

    from approvals.models import Staff
    from bench.waiting import fill

    fill(number, before=before)
    staff, _ = Staff.objects.get_or_create(username="bench", role="agent")
    client = Client(headers={"host": "localhost"})
    client.force_login(staff)
    times: dict[str, float] = {}
    for sort, middle in _middles().items():
        for place, query in (("first", {"sort": sort}), ("middle", {"sort": sort, "after": middle})):
            times[f"{sort}, {place} page"] = _median(client, query, rounds)
    return times


def _middles() -> dict[str, str]:
    """By order, a cursor that stands in the middle of what waits."""
    from approvals.models import Request
    from approvals.requests.queue_filters import SORTS, keyset_of, read

    found = {}
    for sort, (_, column, _) in SORTS.items():
        waiting = Request.objects.filter(state="pending").order_by(column, "reference")
        key = waiting.values_list(column, "reference")[waiting.count() // 2]
        found[sort] = keyset_of(read({"sort": sort})).write(key)
    return found


def _median(client: Any, query: dict[str, str], rounds: int) -> float:
    times: list[float] = []
    for _ in range(rounds + 2):
        began = time.perf_counter()
        status = client.get("/console/", query, secure=True).status_code
        times.append((time.perf_counter() - began) * 1000)
        if status != 200:
            raise RuntimeError(f"The queue answered {status}.")
    return statistics.median(times[-max(rounds, 1) :])


def _child(servers: Servers, number: int, before: int, rounds: int) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.queue", "--measure", str(number), str(before), "--rounds", str(rounds)]
    done = subprocess.run(command, env=servers.environ, cwd=REPOSITORY, text=True, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure and write the table into docs/performance.md."""
    parser = argparse.ArgumentParser("python -m bench.queue")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--many", type=int, default=MANY)
    parser.add_argument("--measure", type=int, nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--dry", action="store_true", help="print only, leave docs/performance.md as it is")
    options = parser.parse_args()
    if options.measure:
        number, before = options.measure
        print(json.dumps(measure(number, before, options.rounds)))  # noqa: T201 - read by the process that began it
        return
    with running(customers=1) as servers:
        few = _child(servers, FEW, 0, options.rounds)
        _child(servers, options.many, FEW, 0)
        with psycopg.connect(servers.postgres.url(roles.DATABASE), autocommit=True) as connection:
            connection.execute("ANALYZE approvals_request")
        many = _child(servers, options.many, options.many, options.rounds)
    rows = [["A page of the queue", f"ms among {FEW}", f"ms among {options.many:,}", "ratio"]]
    rows += [[name, f"{few[name]:.1f}", f"{many[name]:.1f}", f"{many[name] / few[name]:.2f}"] for name in few]
    ratio = statistics.median(many.values()) / statistics.median(few.values())
    rows.append(["median of all", "", "", f"{ratio:.2f}"])
    report.write("queue", f"{report.machine()}.\n\n{report.markdown(rows)}", dry=options.dry)


if __name__ == "__main__":
    main()
