"""`{{ amount|money:currency }}` in templates."""

from django import template

from base.money import told

register = template.Library()


@register.filter
def money(amount_minor: int | None, currency: str) -> str:
    """An amount in minor units as the reader of this page reads it; empty for none."""
    return "" if amount_minor is None or not currency else told(amount_minor, currency)
