"""What the shop sells."""

from typing import Annotated, Any

from pydantic import Field

from agents.tools.registry import Arguments, Tool
from ledger.access.client import Lookups


class GetProduct(Arguments):
    product_id: Annotated[str, Field(min_length=1, max_length=200, description="As an order or list_products has it.")]


class ListProducts(Arguments):
    query: str | None = Field(default=None, max_length=200, description="Words that the name or description holds.")
    cursor: str | None = Field(default=None, description="next_cursor of an earlier result.")


def _get(shop: Lookups, args: GetProduct) -> dict[str, Any]:
    return shop.product(args.product_id)


def _list(shop: Lookups, args: ListProducts) -> dict[str, Any]:
    return shop.products(args.query, args.cursor)


TOOLS = (
    Tool(
        name="get_product",
        description="A product with all its variants: item_id, options, price, and whether it is available.",
        arguments=GetProduct,
        read=_get,
        untrusted=("description",),
    ),
    Tool(
        name="list_products",
        description="Products by name, with their price range and how many variants are available.",
        arguments=ListProducts,
        read=_list,
    ),
)
