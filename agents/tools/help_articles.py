"""Help articles: files under one folder. A name is looked up among them and never made into a path."""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from agents.tools.registry import Arguments, Tool
from base.keyset import Keyset
from ledger.access.client import Lookups
from ledger.errors import Refused
from ledger.shop.lists import MOST_CHARACTERS, MOST_ITEMS, cursor_checked, page

FOLDER = Path(__file__).parent.parent / "help"
MOST_SHOWN, EXCERPT = MOST_CHARACTERS - 1_000, 200
_BY_RANK = Keyset({"name": str})
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class SearchHelp(Arguments):
    query: Annotated[str, Field(min_length=1, max_length=200, description="Words to look for.")]
    cursor: str | None = Field(default=None, description="next_cursor of an earlier result.")


class ReadHelpArticle(Arguments):
    name: Annotated[str, Field(min_length=1, max_length=100, description="As search_help has it.")]


def articles() -> dict[str, Path]:
    """The articles by name: plain files here, no links, so nothing outside the folder has a name."""
    found = sorted(FOLDER.glob("*.md"))
    return {
        path.stem: path for path in found if _NAME.fullmatch(path.stem) and not path.is_symlink() and path.is_file()
    }


def _read(_: Lookups, args: ReadHelpArticle) -> dict[str, Any]:
    known = articles()
    if args.name not in known:
        raise Refused(
            "not_found",
            f"No help article {args.name!r}. Call search_help with a word, and read_help_article with a name from it.",
        )
    title, text = _parts(known[args.name])
    shown = {"name": args.name, "title": title, "text": text[:MOST_SHOWN]}
    cut = "The article is longer than can be shown; search_help with other words, or offer a person."
    return shown | ({"hint": cut} if len(text) > MOST_SHOWN else {})


def _search(_: Lookups, args: SearchHelp) -> dict[str, Any]:
    """Articles that hold a word of the query; those that hold most of them, and in the title, first."""
    words = set(re.findall(r"\w+", args.query.casefold()))
    scored = [(_score(words, name, *_parts(path)), name, path) for name, path in articles().items()]
    ranked = sorted((-score, name, path) for score, name, path in scored if score)
    with cursor_checked():
        after = _BY_RANK.read(args.cursor) if args.cursor else []
    names = [name for _, name, _ in ranked]
    start = names.index(after[0]) + 1 if after and after[0] in names else 0
    rows = [_row(name, path) for _, name, path in ranked[start : start + MOST_ITEMS + 1]]
    return page(rows, lambda row: _BY_RANK.write([row["name"]]), "search_help")


def _score(words: set[str], name: str, title: str, text: str) -> int:
    return sum(3 * (word in f"{name} {title}".casefold()) + (word in text.casefold()) for word in words)


def _row(name: str, path: Path) -> dict[str, Any]:
    title, text = _parts(path)
    return {"name": name, "title": title, "excerpt": text[:EXCERPT]}


def _parts(path: Path) -> tuple[str, str]:
    title, _, text = path.read_text(encoding="utf-8").partition("\n")
    return title.lstrip("# ").strip(), text.strip()


TOOLS = (
    Tool(
        name="search_help",
        description="Find the shop's help articles on a topic. Lists names to read with read_help_article.",
        arguments=SearchHelp,
        read=_search,
    ),
    Tool(
        name="read_help_article",
        description="Read one help article of the shop.",
        arguments=ReadHelpArticle,
        read=_read,
    ),
)
