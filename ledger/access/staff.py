"""The staff scope: all customers' rows, for the console and for the shop's own imports. Agents may not use it."""

from collections.abc import Callable
from typing import TypeVar

from ledger.access.scopes import in_scope

T = TypeVar("T")


def as_staff(work: Callable[[], T]) -> T:
    """Run under the role that sees every customer."""
    return in_scope("placet_staff", "", work)
