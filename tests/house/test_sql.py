"""What no statement of ours may do."""

import re

from tests.house.files import name_of, sources


def test_nothing_is_set_for_a_whole_session() -> None:
    """Connections are shared: what outlives its transaction leaks to the next user of the connection."""
    setting = re.compile(
        r"\bSET\s+(?!LOCAL\b|CONSTRAINTS\b)(?:SESSION\b|ROLE\b|placet\.\w)|set_config\([^)]*\bfalse\s*\)|RESET ROLE",
        re.IGNORECASE,
    )
    assert setting.search("SET ROLE x")
    assert setting.search("select set_config('role', 'x', false)")
    assert not setting.search("SET LOCAL statement_timeout = 1")
    assert [p for p in sources() if setting.search(p.read_text())] == []


def test_nothing_is_deleted() -> None:
    """What was said, decided or moved stays; only sessions, caches and the attempts at what was done end."""
    deletes = re.compile(r"objects\b[^\n]*\.delete\(\)|\bDELETE FROM\b|\bTRUNCATE\b")
    assert deletes.search("Event.objects.filter(pk=1).delete()")
    found = {name_of(p) for p in sources() if deletes.search(p.read_text())}
    assert found == {"base/work.py", "base/parked.py"}


def test_only_the_record_writes_the_record() -> None:
    writes = re.compile(r"\b(Event|Detail)\.objects\.(create|bulk_create|update|get_or_create)|INSERT INTO audit_")
    assert [p.name for p in sources() if writes.search(p.read_text())] == ["record.py"]
