"""The demo: what its sentences need is there, and loading it twice changes nothing."""

import stat
from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django.fixtures import Settings

from approvals.models import Staff
from demo.seed import DEMO_CUSTOMERS, DEMO_STAFF, seed
from ledger.access.staff import as_staff
from ledger.files.export import export_lines
from ledger.models import Customer, Order
from tests.support.env import replace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def home(settings: Settings, tmp_path: Path) -> Path:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.PLACET = replace(settings.PLACET, home=tmp_path / "home")
    return tmp_path / "home"


def test_what_the_demo_sentences_need_is_there() -> None:
    seed()
    customers = as_staff(lambda: list(Customer.objects.values_list("customer_id", flat=True)))
    assert set(customers) == set(DEMO_CUSTOMERS)
    tracked = as_staff(lambda: Order.objects.get(order_id="4471"))
    assert (tracked.customer_id, tracked.status, len(tracked.tracking)) == (DEMO_CUSTOMERS[0], "delivered", 1)
    mine = as_staff(lambda: list(export_lines(customer_id=DEMO_CUSTOMERS[0])))[1:]
    whole = [line for line in mine if sum(item["price_minor"] for item in line["items"]) == 12_400]
    assert [line["status"] for line in whole] == ["delivered"]
    assert as_staff(lambda: Order.objects.exclude(customer_id=DEMO_CUSTOMERS[0]).count()) > 0


def test_loading_it_again_changes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("seed_demo")
    first = capsys.readouterr().out
    as_staff(lambda: Customer.objects.filter(pk=DEMO_CUSTOMERS[0]).update(name="Maya L."))
    call_command("seed_demo")
    assert capsys.readouterr().out == first
    assert as_staff(lambda: Customer.objects.get(pk=DEMO_CUSTOMERS[0]).name) == "Maya L."
    assert [line.split()[:2] for line in first.splitlines()] == [[role, name] for name, role in DEMO_STAFF.items()]
    for line in first.splitlines():
        assert Staff.objects.get(username=line.split()[1]).check_password(line.split()[2])
    assert stat.S_IMODE((home / "demo-passwords.json").stat().st_mode) == 0o600


def test_another_home_gets_passwords_that_work(home: Path) -> None:
    seed()
    (home / "demo-passwords.json").unlink()
    again = seed()
    assert all(Staff.objects.get(username=sign_in.name).check_password(sign_in.password) for sign_in in again)
