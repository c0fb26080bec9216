"""What lies in a database: rows, their bytes, and the space on disk with indexes, for each table."""

from dataclasses import dataclass, field

import psycopg
from psycopg import sql

_TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"


@dataclass
class State:
    """Rows by table, and bytes."""

    rows: dict[str, float] = field(default_factory=dict)
    row_bytes: float = 0
    disk_bytes: float = 0

    def __sub__(self, before: "State") -> "State":
        rows = {name: count - before.rows.get(name, 0) for name, count in self.rows.items()}
        return State(rows, self.row_bytes - before.row_bytes, self.disk_bytes - before.disk_bytes)

    def __truediv__(self, turns: int) -> "State":
        rows = {name: count / turns for name, count in self.rows.items()}
        return State(rows, self.row_bytes / turns, self.disk_bytes / turns)

    def cells(self) -> list[str]:
        """Rows, kB of rows and kB on disk, as text."""
        return [f"{sum(self.rows.values()):.0f}", f"{self.row_bytes / 1000:.1f}", f"{self.disk_bytes / 1000:.1f}"]


def state_of(url: str) -> State:
    """Look at a database as its superuser; dead rows are vacuumed away first."""
    state = State()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM")
        for (name,) in connection.execute(_TABLES).fetchall():
            count = sql.SQL("SELECT count(*), coalesce(sum(pg_column_size(t.*)), 0) FROM {} t")
            rows, size = connection.execute(count.format(sql.Identifier(name))).fetchone() or (0, 0)
            state.rows[name] = rows
            state.row_bytes += float(size)
        total = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r'"
        total += " AND relnamespace = 'public'::regnamespace"
        state.disk_bytes = float((connection.execute(total).fetchone() or (0,))[0])
    return state
