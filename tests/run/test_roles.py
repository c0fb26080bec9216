"""A start refuses a role that no wall holds for."""

import pytest
from django.db import connection

from run import roles
from tests.support.servers import cluster


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("user", "why"),
    [("postgres", "is a superuser and bypasses row-level security"), (roles.OWNER, "owns the tables")],
)
def test_a_role_that_sees_everything_is_refused(user: str, why: str) -> None:
    url = cluster().url(str(connection.settings_dict["NAME"]), user)
    with pytest.raises(roles.RolesError, match=rf"{why}.*give the address of placet_app") as caught:
        roles.require_plain(url)
    assert cluster().password not in str(caught.value)


@pytest.mark.django_db
def test_the_applications_role_serves() -> None:
    roles.require_plain(cluster().url(str(connection.settings_dict["NAME"]), roles.APP))


def test_a_database_that_is_away_is_said_in_a_sentence() -> None:
    with pytest.raises(roles.RolesError, match="DATABASE_URL does not answer"):
        roles.require_plain("postgresql://placet_app:secret@127.0.0.1:1/placet")
