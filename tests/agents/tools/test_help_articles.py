"""Help articles: found by words, read by name, and nothing outside their folder has a name."""

import json
from pathlib import Path

import pytest

from agents.tools import help_articles
from tests.conftest import Propose


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two articles, a secret beside it, and links that lead out."""
    inside = tmp_path / "help"
    inside.mkdir()
    (tmp_path / "secret.md").write_text("# Secret\n\nof the house\n")
    (inside / "returns.md").write_text("# Returning items\n\nSend them back within 30 days.\n")
    (inside / "returns.txt").write_text("of the house")
    (inside / "linked.md").symlink_to(tmp_path / "secret.md")
    (inside / "deep").symlink_to(tmp_path)
    (inside / "Upper.md").write_text("# No\n\nof the house\n")
    (inside / "folder.md").mkdir()
    monkeypatch.setattr(help_articles, "FOLDER", inside)
    return inside


def test_an_article_is_found_and_read(propose: Propose, folder: Path) -> None:
    found = json.loads(propose("search_help", query="how do RETURNS work").text)
    assert [item["name"] for item in found["items"]] == ["returns"]
    read = json.loads(propose("read_help_article", name="returns").text)
    assert read == {"name": "returns", "title": "Returning items", "text": "Send them back within 30 days."}


@pytest.mark.parametrize(
    "name",
    [
        "../secret", "..", ".", "./returns", "returns.md", "returns.txt", "deep/secret", "linked", "folder",
        "/etc/passwd",
        "returns/../returns", "Returns", "RETURNS", "Upper", "ret\u00fcrns", "ｒｅｔｕｒｎｓ", "returns\u200b",
        " returns",
        "returns ", "returns\n", "%2e%2e%2fsecret", "..\\secret", "returns\u0000", "re\u0301turns", "",
    ],
)  # fmt: skip
def test_a_name_resolves_inside_or_is_refused(propose: Propose, folder: Path, name: str) -> None:
    outcome = propose("read_help_article", name=name)
    assert (outcome.decision, outcome.is_error) == ("refused", True)
    assert "of the house" not in outcome.text


def test_many_articles_page_with_a_cursor(propose: Propose, folder: Path) -> None:
    for number in range(45):
        (folder / f"extra-{number:02}.md").write_text(f"# Extra {number}\n\nSend it.\n")
    names: list[str] = []
    arguments = {"query": "send"}
    for size in (20, 20, 6):
        page = json.loads(propose("search_help", **arguments).text)
        assert len(page["items"]) == size
        names += [item["name"] for item in page["items"]]
        arguments["cursor"] = page["next_cursor"]
    assert page["next_cursor"] is None
    assert len(set(names)) == 46


def test_a_long_article_is_cut_and_says_so(propose: Propose, folder: Path) -> None:
    (folder / "long.md").write_text("# Long\n\n" + "word " * 10_000)
    text = propose("read_help_article", name="long").text
    assert len(text) <= 16_000
    assert "longer than can be shown" in text


def test_the_shipped_articles_are_read_whole(propose: Propose) -> None:
    names = list(help_articles.articles())
    assert {"returns", "refunds", "cancelling-an-order"} <= set(names)
    for name in names:
        assert "hint" not in json.loads(propose("read_help_article", name=name).text)
