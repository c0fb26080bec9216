"""What the console's menu says of conversations."""

from django import template

from agents.chat.lists import MOST_COUNTED, handed_over_count

register = template.Library()


@register.simple_tag
def handed_over() -> str:
    """How many wait for a person; empty for none, "99+" for more than can be told at a glance."""
    count = handed_over_count()
    if not count:
        return ""
    return f"{MOST_COUNTED}+" if count > MOST_COUNTED else str(count)
