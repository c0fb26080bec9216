"""Codes, times and stored values as people read them."""

import datetime as dt
import json
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

TOOLS = {
    "issue_refund": "Refund",
    "cancel_order": "Cancel order",
    "return_items": "Return items",
    "exchange_items": "Exchange items",
    "change_order_items": "Change order's items",
    "change_order_payment": "Change order's payment",
    "change_order_address": "Change order's address",
    "change_my_address": "Change own address",
}
RULES = {
    "currency_without_lines": "This currency has no automatic limit.",
    "above_two_people_day": "Above the daily line for two people.",
    "above_automatic_day": "Above the daily automatic line.",
    "above_automatic_month": "Above the 30-day automatic line.",
    "untrusted_text": "The conversation holds text that neither the customer nor the shop wrote.",
    "flag": "The customer is flagged.",
    "above_call": "Above the line for one write.",
    "above_order_day": "Above the order's daily line.",
    "above_order_month": "Above the order's 30-day line.",
    "above_method_day": "Above the payment method's daily line.",
    "above_method_month": "Above the payment method's 30-day line.",
    "above_conversation_day": "Above the conversation's daily line.",
    "above_conversation_month": "Above the conversation's 30-day line.",
    "tool_asks": "The policy lets this tool always ask.",
    "sign_in_old": "The customer signed in too long ago.",
    "sign_in_weak": "The customer's sign-in is too weak.",
    "within_lines": "Within every line.",
    "reason_other": "The reason given is “other”.",
    "repeat": "Equal to a write executed in the last 24 hours.",
    "unproven_method": "Pays to a method that did not pay for this order.",
    "status_asks": "The order's status always asks.",
    "address_of_valuable_order": "Valuable goods would go to a new address.",
}


@register.filter
def words(code: str) -> str:
    """`not_eligible` as "Not eligible"."""
    return str(code).replace("_", " ").capitalize()


@register.filter
def tool_words(tool: str) -> str:
    """A tool's name in words."""
    return TOOLS.get(tool, words(tool))


@register.filter
def rule_words(rule: str) -> str:
    """Why a rule asks, in a sentence."""
    return RULES.get(rule, f"{words(rule)}.")


@register.filter
def fact_words(value: Any) -> str:
    """A fact or a field's value: yes and no for truth, JSON for what has parts."""
    if isinstance(value, bool):
        return "yes" if value else "no"
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
        utc.strftime("%-d %b %Y, %H:%M:%S"),
    )
