"""The catalogue, the same for every customer."""

from typing import Any

from ledger.errors import Refused
from ledger.models import Product


def show_product(product_id: str) -> dict[str, Any]:
    """A product with its variants and prices."""
    product = Product.objects.filter(product_id=product_id).first()
    if product is None:
        raise Refused("not_found", f"No product {product_id}. Call list_products, or take product_id from an order.")
    shown = {"product_id": product.product_id, "name": product.name, "items": product.items}
    return shown | ({"description": product.description} if product.description else {})
