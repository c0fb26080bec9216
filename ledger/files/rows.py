"""Lines of the shop's format as rows."""

from typing import Any

from ledger.files.format import MethodLine
from ledger.files.lines import Line
from ledger.files.promises import OrderNews
from ledger.models import Customer, Order, PaymentMethod, Product


def upsert(model: Any, rows: list[Any]) -> None:
    """Insert, or update all that the shop decides; `touched_at` and `disabled_at` are ours."""
    ours = ("touched_at", "disabled_at")
    key = model._meta.pk.name
    columns = [field.name for field in model._meta.concrete_fields if field.name not in (key, *ours)]
    model.objects.bulk_create(rows, update_conflicts=True, unique_fields=[key], update_fields=columns)


def customer_row(line: Line) -> Customer:
    """A customer's row as the shop has it."""
    raw = line.raw
    return Customer(
        customer_id=raw["customer_id"],
        name=raw["name"],
        email=raw["email"],
        phone=raw.get("phone"),
        address=raw["address"],
        imported=raw,
    )


def method_row(line: Line, place: int, method: MethodLine) -> PaymentMethod:
    """A payment method's row; a gift card's balance is in the books instead."""
    columns = method.model_dump(exclude={"balance_minor"})
    return PaymentMethod(customer_id=line.model.id, position=place, **columns)


def product_row(line: Line) -> Product:
    """A product's row."""
    raw = line.raw
    return Product(product_id=raw["product_id"], name=raw["name"], description=raw.get("description"),
                   items=raw["items"], imported=raw)  # fmt: skip


def order_row(order: OrderNews) -> Order:
    """An order's row; its payments are in the books instead."""
    raw = order.line.raw
    direct = {key: raw.get(key) for key in (
        "order_id", "customer_id", "currency", "status", "address", "items", "tracking", "note", "placed_at",
        "delivered_at", "cancel_reason",
    )}  # fmt: skip
    return Order(**direct, returning=raw.get("return"), exchanging=raw.get("exchange"), imported=raw)
