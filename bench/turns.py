"""How fast whole audited turns are, beside the bare SDK and LangGraph: `python -m bench.turns` (see `make bench`).

Contenders are processes that wait while another runs; each round lets every one of them run, so that a change of
the machine's mood meets all. Figures are medians of rounds.
"""

import argparse
import json
import statistics
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field

import psycopg

from base.home import REPOSITORY
from bench import report
from bench.contender import THREADS, WARM_UP
from bench.servers import Servers, running
from bench.state import State, state_of
from run import roles

GRAPH_PYTHON = str(REPOSITORY / ".venv-bench" / "bin" / "python")


@dataclass
class Contender:
    """A process that runs turns when told to, and what it took for them, per turn."""

    name: str
    command: tuple[str, ...]
    database: str
    process: "subprocess.Popen[str]" = field(init=False)
    turns_per_second: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    state: State = field(default_factory=State)

    def start(self, servers: Servers) -> None:
        """Start it and wait until it has warmed up."""
        self.process = subprocess.Popen(
            self.command, env=servers.environ, cwd=REPOSITORY, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self._answer()

    def run(self, turns: int) -> None:
        """One round."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{turns}\n")
        self.process.stdin.flush()
        took = self._answer()
        self.turns_per_second.append(turns / took["seconds"])
        self.cpu_ms.append(took["cpu"] / turns * 1000)

    def stop(self) -> None:
        """End it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(20)

    def _answer(self) -> dict[str, float]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended: see above.")
        answer: dict[str, float] = json.loads(line)
        return answer


def _contenders() -> list[Contender]:
    here, graph = (sys.executable, "-m"), (GRAPH_PYTHON, "-m", "bench.graph")
    return [
        Contender("Bare SDK loop, keeps nothing", (*here, "bench.bare"), ""),
        Contender("LangGraph, PostgresSaver", graph, "langgraph"),
        Contender("Placet", (*here, "bench.ours"), roles.DATABASE),
        Contender("LangGraph with approval", (*graph, "approval"), "langgraph"),
        Contender("Placet with approval", (*here, "bench.ours", "approval"), roles.DATABASE),
    ]


def measure(rounds: int, turns: int) -> list[Contender]:
    """Run all contenders, interleaved; then count what one more round of each leaves in its database."""
    everyone = _contenders()
    with ExitStack() as stack:
        servers = stack.enter_context(running(customers=WARM_UP + (rounds + 1) * turns))
        with psycopg.connect(servers.postgres.url("postgres"), autocommit=True) as connection:
            connection.execute("CREATE DATABASE langgraph")
        servers.environ["LANGGRAPH_URL"] = servers.postgres.url("langgraph")
        for contender in everyone:
            contender.start(servers)
            stack.callback(contender.stop)
        for _ in range(rounds):
            for contender in everyone:
                contender.run(turns)
        for contender in (one for one in everyone if one.database):
            contender.state = _left_by(contender, turns, servers.postgres.url(contender.database))
    return everyone


def _left_by(contender: Contender, turns: int, url: str) -> State:
    measured = contender.turns_per_second[:], contender.cpu_ms[:]
    before = state_of(url)
    contender.run(turns)
    after = state_of(url)
    contender.turns_per_second, contender.cpu_ms = measured
    return (after - before) / turns


def table(everyone: list[Contender]) -> list[list[str]]:
    """The figures as rows of text, ratios against the first contender."""
    bare = everyone[0]
    rows = [["", "turns/s", "of bare", "client CPU ms", "of bare", "rows", "kB in rows", "kB on disk"]]
    for one in everyone:
        rate, cpu = statistics.median(one.turns_per_second), statistics.median(one.cpu_ms)
        ratios = [mine / bares for mine, bares in zip(one.turns_per_second, bare.turns_per_second, strict=True)]
        costs = [mine / bares for mine, bares in zip(one.cpu_ms, bare.cpu_ms, strict=True)]
        kept = one.state.cells() if one.database else ["0", "0", "0"]
        figures = [f"{rate:.0f}", f"{statistics.median(ratios):.2f}", f"{cpu:.1f}", f"{statistics.median(costs):.2f}"]
        rows.append([one.name, *figures, *kept])
    return rows


def tables_of_rows(everyone: list[Contender]) -> list[list[str]]:
    """Which tables the rows of an approved turn lie in."""
    ours = everyone[-1].state.rows
    return [
        ["Table", "rows per approved turn"],
        *([name, f"{rows:.1f}"] for name, rows in sorted(ours.items()) if rows),
    ]


def main() -> None:
    """Measure and write the tables into docs/performance.md."""
    parser = argparse.ArgumentParser("python -m bench.turns")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--turns", type=int, default=160, help="per round and contender")
    parser.add_argument("--dry", action="store_true", help="print only, leave docs/performance.md as it is")
    options = parser.parse_args()
    everyone = measure(options.rounds, options.turns)
    note = f"{report.machine()}. Medians of {options.rounds} rounds of {options.turns} turns, {THREADS} threads each."
    text = f"{note}\n\n{report.markdown(table(everyone))}\n\n{report.markdown(tables_of_rows(everyone))}"
    report.write("turns", text, dry=options.dry)


if __name__ == "__main__":
    main()
