"""Which lines of an order a write is about, and which variants take their place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ledger.errors import Refused
from ledger.shop.orders import Json, OrderState
from ledger.shop.refunds import require_items

Catalogue = Mapping[str, Mapping[str, Json]]
"""Variants by product id and item id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """A line of the order, by position, and the variant that replaces it."""

    position: int
    old: Json
    new: Json

    @property
    def difference_minor(self) -> int:
        return int(self.new["price_minor"]) - int(self.old["price_minor"])


def positions(state: OrderState, item_ids: Sequence[str]) -> list[int]:
    """The position of each named item; an item bought twice takes the next line that is not taken."""
    require_items(state, item_ids)
    free = list(range(len(state.items)))
    found = []
    for item_id in item_ids:
        position = next(place for place in free if state.items[place]["item_id"] == item_id)
        free.remove(position)
        found.append(position)
    return found


def swaps(
    state: OrderState, item_ids: Sequence[str], new_item_ids: Sequence[str], catalogue: Catalogue, tool: str
) -> tuple[Swap, ...]:
    """Each named line with its new variant, paired by position: of the same product, and available."""
    places = positions(state, item_ids)
    if len(new_item_ids) != len(item_ids):
        raise Refused(
            "items",
            f"item_ids names {len(item_ids)} items and new_item_ids {len(new_item_ids)}; they are paired by position. "
            f"Call {tool} again with one new item for each.",
        )
    return tuple(
        Swap(position=place, old=state.items[place], new=_variant(state.items[place], new, catalogue, tool))
        for place, new in zip(places, new_item_ids, strict=True)
    )


def difference_minor(pairs: Sequence[Swap]) -> int:
    """What the new items cost more than the old ones; negative where they cost less."""
    return sum(pair.difference_minor for pair in pairs)


def replaced(state: OrderState, pairs: Sequence[Swap]) -> list[Json]:
    """The order's lines afterwards: position, product and name stay; id, options and price are the variant's."""
    lines = list(state.items)
    for pair in pairs:
        taken: dict[str, Any] = {name: pair.new[name] for name in ("item_id", "options", "price_minor")}
        lines[pair.position] = {**lines[pair.position], **taken}
    return lines


def _variant(line: Json, new_item_id: str, catalogue: Catalogue, tool: str) -> Json:
    variants = catalogue.get(line["product_id"], {})
    variant = variants.get(new_item_id)
    if variant is not None and variant["available"]:
        return variant
    wrong = "is not available now" if variant else f"is not a variant of the same product as {line['item_id']}"
    raise Refused(
        "variants",
        f"Item {new_item_id} {wrong}. Call get_product('{line['product_id']}'), ask the customer which available "
        f"variant they want, and call {tool} again with its item_id in new_item_ids.",
    )
