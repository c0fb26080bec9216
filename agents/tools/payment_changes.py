"""Letting another payment method pay."""

from agents.tools.orders import OrderId, PaymentMethodId
from agents.tools.registry import Arguments, Tool
from ledger.access.client import Shop
from ledger.books.plans import Plan
from ledger.shop.payment_changes import plan_payment_change


class ChangeOrderPayment(Arguments):
    order_id: OrderId
    payment_method_id: PaymentMethodId


def _plan(shop: Shop, args: ChangeOrderPayment) -> Plan:
    return plan_payment_change(shop.order_to_change(args.order_id), args.payment_method_id)


TOOLS = (
    Tool(
        name="change_order_payment",
        description=(
            "Let another of the customer's payment methods pay for a pending order: the new one is charged in full "
            "and the old one refunded in full. Only once for an order."
        ),
        arguments=ChangeOrderPayment,
        plan=_plan,
        moves_money=True,
    ),
)
