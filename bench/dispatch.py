"""Audited ledger writes per second through dispatch, beside pgbench and plain Django: `python -m bench.dispatch`.

pgbench does the least that such a write needs in one transaction on the same server: it locks the order, inserts
the transfer and the event, and updates the order's balance. All take turns in one run; figures are medians of rounds.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import psycopg

from base.home import REPOSITORY
from bench import report
from bench.caller import WRITES_PER_CUSTOMER
from bench.servers import Servers, running
from run import roles

CALLERS = (1, 4, 8)
_TABLES = """
    CREATE TABLE bench_order (id int PRIMARY KEY, balance bigint NOT NULL);
    INSERT INTO bench_order SELECT n, 1000000 FROM generate_series(1, 10000) n;
    CREATE TABLE bench_transfer (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, order_id int NOT NULL,
        amount bigint NOT NULL, at timestamptz NOT NULL DEFAULT now());
    CREATE TABLE bench_event (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, order_id int NOT NULL,
        kind text NOT NULL, body text NOT NULL, at timestamptz NOT NULL DEFAULT now());
"""
_SCRIPT = """\\set n random(1, 10000)
BEGIN;
SELECT balance FROM bench_order WHERE id = :n FOR NO KEY UPDATE;
INSERT INTO bench_transfer (order_id, amount) VALUES (:n, 1);
INSERT INTO bench_event (order_id, kind, body) VALUES (:n, 'dispatch', '{"tool": "issue_refund"}');
UPDATE bench_order SET balance = balance - 1 WHERE id = :n;
COMMIT;
"""


@dataclass
class Callers:
    """Processes of one kind, of which the first few run at a time."""

    kind: str
    processes: list["subprocess.Popen[str]"] = field(default_factory=list)

    def start(self, servers: Servers, first: int, customers_each: int) -> int:
        """Start eight; gives the first customer that none of them uses."""
        for place in range(max(CALLERS)):
            command = (sys.executable, "-m", "bench.caller", self.kind, str(first + place * customers_each))
            self.processes.append(
                subprocess.Popen(
                    command, env=servers.environ | self.environ(servers), cwd=REPOSITORY, text=True,
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                )
            )  # fmt: skip
            _answer(self.processes[-1])
        return first + max(CALLERS) * customers_each

    def environ(self, servers: Servers) -> dict[str, str]:
        """Plain Django has no rules, so no scope to put on: it owns what it writes."""
        return {"DATABASE_URL": servers.postgres.url(roles.DATABASE, roles.OWNER)} if self.kind == "orm" else {}

    def run(self, callers: int, writes: int) -> float:
        """Writes per second of so many callers together."""
        chosen = self.processes[:callers]
        for process in chosen:
            _tell(process, str(writes))
            _answer(process)
        for process in chosen:
            _tell(process, "go")
        slowest = max(float(_answer(process)["seconds"]) for process in chosen)
        return callers * writes / slowest

    def stop(self) -> None:
        for process in self.processes:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(20)


def _tell(process: "subprocess.Popen[str]", text: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{text}\n")
    process.stdin.flush()


def _answer(process: "subprocess.Popen[str]") -> dict[str, Any]:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError("A caller ended: see above.")
    found: dict[str, Any] = json.loads(line)
    return found


def _pgbench(servers: Servers, callers: int, seconds: int) -> float:
    script = servers.folder / "refund.sql"
    script.write_text(_SCRIPT)
    command = [
        str(servers.postgres.binaries / "pgbench"), "-n", "-M", "prepared", "-c", str(callers), "-j", "2",
        "-T", str(seconds), "-f", str(script), servers.postgres.url(roles.DATABASE),
    ]  # fmt: skip
    said = subprocess.run(command, check=True, text=True, capture_output=True, env=servers.environ).stdout
    found = re.search(r"tps = ([\d.]+)", said)
    assert found is not None, said
    return float(found.group(1))


def measure(rounds: int, writes: int) -> dict[tuple[str, int], list[float]]:
    """Writes per second by kind and number of callers, a figure per round."""
    each = -(-(rounds * len(CALLERS) * writes) // WRITES_PER_CUSTOMER) + 1
    taken: dict[tuple[str, int], list[float]] = {}
    with ExitStack() as stack:
        servers = stack.enter_context(running(customers=2 * max(CALLERS) * each))
        with psycopg.connect(servers.postgres.url(roles.DATABASE), autocommit=True) as connection:
            connection.execute(_TABLES)
        servers.environ["PLACET_LEASE_SECONDS"] = "3600"  # prepared turns wait until their round comes
        kinds, first = [Callers("placet"), Callers("orm")], 0
        for kind in kinds:
            stack.callback(kind.stop)
            first = kind.start(servers, first, each)
        for _ in range(rounds):
            for callers in CALLERS:
                taken.setdefault(("pgbench", callers), []).append(_pgbench(servers, callers, 3))
                for kind in kinds:
                    taken.setdefault((kind.kind, callers), []).append(kind.run(callers, writes))
    return taken


_NAMES = {"pgbench": "pgbench, the least", "placet": "Placet, through dispatch", "orm": "plain Django"}


def table(taken: dict[tuple[str, int], list[float]]) -> list[list[str]]:
    """Medians, and ratios of the same rounds against pgbench."""
    rows = [["", *(f"{callers} callers: writes/s, of pgbench" for callers in CALLERS)]]
    for kind, name in _NAMES.items():
        cells = []
        for callers in CALLERS:
            mine, least = taken[kind, callers], taken["pgbench", callers]
            ratio = statistics.median(one / other for one, other in zip(mine, least, strict=True))
            cells.append(f"{statistics.median(mine):.0f}, {ratio:.2f}")
        rows.append([name, *cells])
    return rows


def main() -> None:
    """Measure and write the table into docs/performance.md."""
    parser = argparse.ArgumentParser("python -m bench.dispatch")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--writes", type=int, default=120, help="per caller and round")
    parser.add_argument("--dry", action="store_true", help="print only, leave docs/performance.md as it is")
    options = parser.parse_args()
    taken = measure(options.rounds, options.writes)
    note = f"{report.machine()}. Medians of {options.rounds} rounds of {options.writes} writes per caller."
    report.write("dispatch", f"{note}\n\n{report.markdown(table(taken))}", dry=options.dry)


if __name__ == "__main__":
    main()
