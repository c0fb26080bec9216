"""What changed between a request that went stale and the one that was issued afresh for it."""

from typing import Any

from approvals.models import Request

Difference = tuple[str, Any, Any]


def drift_of(request: Request) -> tuple[Request, list[Difference]] | None:
    """The other request of the pair, and where their previews differ: path, then and now. None without a pair."""
    fresh = Request.objects.filter(replaces=request.pk).first()
    stale = Request.objects.filter(pk=request.replaces).first() if request.replaces else None
    if fresh is not None:
        return fresh, differences(request.preview, fresh.preview)
    return (stale, differences(stale.preview, request.preview)) if stale else None


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[Difference]:
    """By path in the order of the names; None where one of them has nothing."""
    old, new = dict(_leaves(before)), dict(_leaves(after))
    return [(path, old.get(path), new.get(path)) for path in sorted({*old, *new}) if old.get(path) != new.get(path)]


def _leaves(value: Any, path: str = "") -> list[tuple[str, Any]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value, 1) if isinstance(value, list) else None
    if parts is None:
        return [(path, value)]
    return [leaf for name, part in parts for leaf in _leaves(part, f"{path} {name}".strip())]
