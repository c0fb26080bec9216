"""What the layers above want to hear of, sent inside the transaction that made it so."""

from django.dispatch import Signal

goods_ended = Signal()
"""A return or exchange ended. Sent with `plan`, `posted`, and `owner`, the reference that had promised it."""

payout_changed = Signal()
"""A payout's state changed. Sent with `told` (ledger.payouts.sending.Told), `was` and `state`."""

order_disturbed = Signal()
"""A refund or dispute at the provider changed an order's money. Sent with `order_id`, `customer_id` and `why`."""
