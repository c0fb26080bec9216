"""Who asks for a page."""

from django.http import HttpRequest

from approvals.models import Staff


def staff_of(request: HttpRequest) -> Staff:
    """The member of staff whom `staff_page` has let in."""
    assert isinstance(request.user, Staff)
    return request.user
