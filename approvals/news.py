"""News that goes up, in the transaction of what it tells: the agents tell the customer, the console those who work."""

from django.dispatch import Signal

request_changed = Signal()
"""Sent with `request` (approvals.models.Request) and `customer_message` after each change of its state; with `what`
where the state alone does not say it: `undone`, `lowered`."""

desk_changed = Signal()
"""Sent with `reference` in the transaction that changes what the queue shows of a request and that customers do not
hear of: who has it, a first approval, anything about a decoy."""
