"""The tables of this app, by topic. Everybody imports them from here."""

from ledger.models.books import Account, Entry, Hold, Transfer
from ledger.models.payouts import Dispute, Payout, ProviderEvent
from ledger.models.shop import Customer, Order, PaymentMethod, Product

__all__ = [
    "Account",
    "Customer",
    "Dispute",
    "Entry",
    "Hold",
    "Order",
    "PaymentMethod",
    "Payout",
    "Product",
    "ProviderEvent",
    "Transfer",
]
