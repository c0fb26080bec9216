"""Two administrators at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from approvals.models import Staff
from approvals.people import administration as deeds
from approvals.people.accounts import AccountError
from tests.support.cast import make_staff


@pytest.mark.committing
def test_two_administrators_cannot_remove_each_other(committing_db: None) -> None:
    one, other = make_staff("one", "admin"), make_staff("other", "admin")

    def remove(pair: tuple[Staff, Staff]) -> bool:
        try:
            deeds.deactivate(staff=pair[1], by=pair[0])
        except AccountError:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(remove, [(one, other), (other, one)]))
    assert sorted(done) == [False, True]
    assert Staff.objects.filter(role="admin", is_active=True).count() == 1
