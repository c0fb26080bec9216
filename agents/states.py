"""A request's state, as its customer and the model are told it."""

STATES = {
    "pending": "waiting", "executing": "approved", "stale": "failed",
    **{name: name for name in ("approved", "executed", "denied", "expired", "withdrawn", "failed", "unknown")},
}  # fmt: skip
