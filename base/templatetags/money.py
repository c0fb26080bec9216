"""`{{ amount|money:currency }}` in templates."""

from django import template

from base.money import show

register = template.Library()


@register.filter
def money(amount_minor: int | None, currency: str) -> str:
    """An amount in minor units as people read it; empty for none."""
    return "" if amount_minor is None or not currency else show(amount_minor, currency)
