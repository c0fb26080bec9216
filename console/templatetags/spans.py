"""Lengths of time as people read them."""

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

register = template.Library()


@register.filter
def duration(seconds: float | None) -> str:
    """Seconds in the largest unit that fits: 40 s, 12 min, 5 h, 3 days."""
    if seconds is None:
        return _("none yet")
    if seconds < 60:
        return _("%d s") % round(seconds)
    if seconds < 3600:
        return _("%d min") % round(seconds / 60)
    if seconds < 48 * 3600:
        return _("%d h") % round(seconds / 3600)
    days = round(seconds / 86_400)
    return ngettext("%d day", "%d days", days) % days
