"""The catalogue, the same for every customer."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Q

from base.keyset import Keyset
from ledger.errors import Refused
from ledger.models import Product
from ledger.shop.lists import MOST_ITEMS, cursor_checked, fitting, page

Json = dict[str, Any]
_BY_NAME = Keyset({"name": str, "product_id": str})


def show_product(product_id: str) -> Json:
    """A product with its variants and prices; of very many, as many as fit, available ones first."""
    product = Product.objects.filter(product_id=product_id).first()
    if product is None:
        raise Refused("not_found", f"No product {product_id}. Call list_products, or take product_id from an order.")
    shown: Json = {"product_id": product.product_id, "name": product.name}
    if product.description:
        shown["description"] = product.description[:4_000]
    variants = fitting(sorted(product.items, key=lambda item: not item["available"]))
    if len(variants) == len(product.items):
        return shown | {"items": product.items}
    left = len(product.items) - len(variants)
    return shown | {"items": variants, "hint": f"{left} more variants do not fit here; a person can look them up."}


def list_products(query: str | None, cursor: str | None) -> Json:
    """Products whose name or description holds every word of the query, by name, a page at a time."""
    found = Product.objects.all()
    for word in (query or "").split()[:10]:
        found = found.filter(Q(name__icontains=word) | Q(description__icontains=word))
    with cursor_checked():
        found = _BY_NAME.after(found, cursor)
    rows = [_row(product) for product in found[: MOST_ITEMS + 1]]
    return page(rows, lambda row: _BY_NAME.write([row["name"], row["product_id"]]), "list_products")


def _row(product: Product) -> Json:
    prices = [item["price_minor"] for item in product.items if item["available"]]
    row: Json = {"product_id": product.product_id, "name": product.name, "variants": len(product.items)}
    row["available"] = len(prices)
    return row | ({"from_minor": min(prices), "to_minor": max(prices)} if prices else {})


def catalogue(product_ids: Iterable[str]) -> dict[str, dict[str, Json]]:
    """The variants of some products, by product id and item id."""
    products = Product.objects.filter(product_id__in=set(product_ids))
    return {product.product_id: {item["item_id"]: item for item in product.items} for product in products}
