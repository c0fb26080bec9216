"""News that goes up: the agents tell the customer, in the same transaction, so no news is ever lost."""

from django.dispatch import Signal

request_changed = Signal()
"""Sent with `request` (approvals.models.Request) and `customer_message` after each change of its state; with `what`
where the state alone does not say it: `undone`, `lowered`."""
