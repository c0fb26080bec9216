"""What every page of the console says while the brake is on."""

from django import template

from approvals.brakes import standing
from approvals.models import Brake

register = template.Library()


@register.simple_tag
def brakes_on() -> list[Brake]:
    """The brakes that are on, latest first."""
    return standing()
