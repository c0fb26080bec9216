"""What the console's tests share."""

import pytest

from approvals.models import Request
from tests.conftest import Propose


@pytest.fixture
def waiting(propose: Propose) -> Request:
    """Maya wants £99 back: above the automatic line."""
    outcome = propose("issue_refund", order_id="4471", amount_minor=9_900, reason="damaged")
    return Request.objects.get(reference=outcome.reference)
