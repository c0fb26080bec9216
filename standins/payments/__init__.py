"""A payment provider for demonstrations and tests: no money moves. See docs/payments.md."""
