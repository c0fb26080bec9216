"""Codes, times and stored values as people read them."""

import datetime as dt
import json
from typing import Any

from django import template
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy

from base.names import actor_name, role_name

register = template.Library()
register.filter("role_name", role_name)
register.filter("actor_name", actor_name)

TOOLS = {
    "issue_refund": gettext_lazy("Refund"),
    "cancel_order": gettext_lazy("Cancel order"),
    "return_items": gettext_lazy("Return items"),
    "exchange_items": gettext_lazy("Exchange items"),
    "change_order_items": gettext_lazy("Change order's items"),
    "change_order_payment": gettext_lazy("Change order's payment"),
    "change_order_address": gettext_lazy("Change order's address"),
    "change_my_address": gettext_lazy("Change own address"),
}
RULES = {
    "currency_without_lines": gettext_lazy("This currency has no automatic limit."),
    "above_two_people_day": gettext_lazy("Above the daily line for two people."),
    "above_automatic_day": gettext_lazy("Above the daily automatic line."),
    "above_automatic_month": gettext_lazy("Above the 30-day automatic line."),
    "untrusted_text": gettext_lazy("The conversation holds text that neither the customer nor the shop wrote."),
    "flag": gettext_lazy("The customer is flagged."),
    "above_call": gettext_lazy("Above the line for one write."),
    "above_order_day": gettext_lazy("Above the order's daily line."),
    "above_order_month": gettext_lazy("Above the order's 30-day line."),
    "above_method_day": gettext_lazy("Above the payment method's daily line."),
    "above_method_month": gettext_lazy("Above the payment method's 30-day line."),
    "above_conversation_day": gettext_lazy("Above the conversation's daily line."),
    "above_conversation_month": gettext_lazy("Above the conversation's 30-day line."),
    "tool_asks": gettext_lazy("The policy lets this tool always ask."),
    "sign_in_old": gettext_lazy("The customer signed in too long ago."),
    "sign_in_weak": gettext_lazy("The customer's sign-in is too weak."),
    "within_lines": gettext_lazy("Within every line."),
    "reason_other": gettext_lazy("The reason given is “other”."),
    "repeat": gettext_lazy("Equal to a write executed in the last 24 hours."),
    "unproven_method": gettext_lazy("Pays to a method that did not pay for this order."),
    "status_asks": gettext_lazy("The order's status always asks."),
    "address_of_valuable_order": gettext_lazy("Valuable goods would go to a new address."),
}


@register.filter
def words(code: str) -> str:
    """`not_eligible` as "Not eligible"."""
    said = str(code).replace("_", " ").capitalize()
    return gettext(said) if said else ""


@register.filter
def mid_words(code: str) -> str:
    """The same within a sentence. Only the first letter changes: other languages have capitals of their own."""
    said = words(code)
    return said[:1].lower() + said[1:]


@register.filter
def path_words(path: str) -> str:
    """Where a value stands, part by part: `movements 1 amount_minor`."""
    return " › ".join(words(part) for part in path.split())


@register.filter
def tool_words(tool: str) -> str:
    """A tool's name in words."""
    return str(TOOLS.get(tool) or words(tool))


@register.filter
def rule_words(rule: str) -> str:
    """Why a rule asks, in a sentence."""
    return str(RULES.get(rule) or f"{words(rule)}.")


@register.filter
def fact_words(value: Any) -> str:
    """A fact or a field's value: yes and no for truth, JSON for what has parts."""
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, dict) and all(isinstance(part, str | None) for part in value.values()):
        return ", ".join(part for part in value.values() if part)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


@register.filter
def pretty(value: Any) -> str:
    """Stored JSON, indented."""
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True, default=str)


@register.simple_tag
def at(moment: dt.datetime | None, show: str = "at") -> SafeString | str:
    """A time that times.js turns into the reader's own zone; `show` is at, age or left."""
    if moment is None:
        return ""
    utc = moment.astimezone(dt.UTC)
    return format_html(
        '<time datetime="{}" data-show="{}">{} UTC</time>',
        utc.isoformat(timespec="milliseconds"),
        show,
        date_format(utc, "j M Y, H:i:s"),
    )
