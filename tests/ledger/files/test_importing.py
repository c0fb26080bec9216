"""The shop's format in and out: whole or not at all, twice is once, and never over a write of ours."""

import io
import itertools
import json
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.utils import timezone
from hypothesis import HealthCheck, given, strategies
from hypothesis import settings as hypothesis_settings

from ledger.access.scopes import as_customer
from ledger.access.staff import as_staff
from ledger.files.export import UnknownRow, export_lines
from ledger.files.importing import Counts, import_shop
from ledger.files.lines import ShopError
from ledger.models import Account, Customer, Hold, Order, Transfer
from ledger.shop.profiles import show_profile

Row = dict[str, Any]
PUBLIC = settings.PLACET.shared / "data" / "retail" / "shop.jsonl"
ADDRESS = {name: name for name in ("line1", "line2", "city", "region", "postal_code", "country")}
CARD = {"payment_method_id": "card", "kind": "card", "brand": "visa", "last4": "4242"}
GIFT = {"payment_method_id": "gift", "kind": "gift_card", "currency": "GBP", "balance_minor": 700}


def customer(**more: Any) -> Row:
    row = {"type": "customer", "customer_id": "ann", "name": "Ann", "email": "ann@example.com", "address": ADDRESS}
    return {**row, "payment_methods": [CARD, GIFT], **more}


def order(*payments: Row, **more: Any) -> Row:
    item = {"item_id": "mug", "product_id": "mugs", "name": "Mug", "options": {}, "price_minor": 500}
    row = {"type": "order", "order_id": "1", "customer_id": "ann", "currency": "GBP", "status": "delivered"}
    rest = {"address": ADDRESS, "items": [item, item], "tracking": [], "payments": list(payments)}
    return {**row, **rest, **more}


def paid(kind: str, amount_minor: Any, method: str = "card") -> Row:
    return {"kind": kind, "amount_minor": amount_minor, "payment_method_id": method}


def run(*rows: Row | bytes) -> Counts:
    data = b"".join(row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in rows)
    return import_shop(io.BytesIO(data), lambda done, total: None)


def exported(**which: str) -> list[Row]:
    return as_staff(lambda: list(export_lines(**which)))


def touch(model: type[Customer] | type[Order], key: str) -> None:
    as_staff(lambda: model.objects.filter(pk=key).update(touched_at=timezone.now()))


def holds() -> list[tuple[str, int]]:
    return as_staff(lambda: list(Hold.objects.order_by("id").values_list("state", "amount_minor")))


@pytest.mark.django_db
def test_a_telephone_number_comes_back_as_written_and_is_not_in_the_profile() -> None:
    row = customer(phone="+44 (0)20 7946 0958")
    run(row)
    assert exported() == [row]
    assert run(row) != run(customer(phone="+44 20 7946 0959"))
    assert exported()[0]["phone"] == "+44 20 7946 0959"
    assert "phone" not in as_customer("ann", lambda: show_profile("ann"))


@pytest.mark.django_db
def test_rows_come_back_as_they_went_in() -> None:
    rows = [
        order(paid("capture", 900), {**paid("refund", 3), "provider_reference": "re"}, note="", placed_at="2026-11-01"),
        {"type": "product", "product_id": "mugs", "name": "Mug", "items": [
            {"item_id": "mug", "options": {"size": "S"}, "available": False, "price_minor": 500}]},
        customer(name="Ann 🎁"),
    ]  # fmt: skip
    assert run(*rows) == Counts(new=3)
    assert exported() == [rows[2], rows[1], rows[0]]
    assert exported(customer_id="ann") == [rows[2], rows[0]]
    assert exported(order_id="1") == [rows[0]]
    assert run(*rows) == Counts(same=3)
    assert exported() == [rows[2], rows[1], rows[0]]
    with pytest.raises(UnknownRow, match="There is no order '2'"):
        exported(order_id="2")


BAD_LINES = {
    b"nonsense\n": "line 2: is not valid JSON",
    b"\xff{}\n": "line 2: is not UTF-8 (byte 1)",
    b"[1]\n": "line 2: must be an object, got [1]",
    b'{"type":"ship"}\n': 'line 2: type: must be one of customer, product, order, got "ship"',
    b'{"type":"order","type":"order"}\n': "line 2: type: stands twice in one object",
    b'{"type":"order","x":NaN}\n': "line 2: NaN is not a number in JSON",
    b"[" * 100_000 + b"\n": "line 2: is nested too deeply",
}
BAD_ROWS: list[tuple[Row, str]] = [
    (order(paid("capture", "12")), 'payments.0.amount_minor: must be a whole number of minor units, got "12"'),
    (order(paid("capture", 12.0)), "payments.0.amount_minor: must be a whole number of minor units, got 12.0"),
    (order(paid("capture", True)), "payments.0.amount_minor: must be a whole number of minor units, got true"),
    (order(paid("capture", 0)), "payments.0.amount_minor: must be at least 1, got 0"),
    (order(paid("capture", -1)), "payments.0.amount_minor: must be at least 1, got -1"),
    (order(paid("capture", 10**18)), "payments.0.amount_minor: must be at most 1000000000000, got 10000000000"),
    (order(paid("charge", 1)), "payments.0.kind: must be 'capture' or 'refund', got \"charge\""),
    (order(paid("capture", 5, "other")), "payments.0.payment_method_id: this customer has no payment method 'other'"),
    (order(paid("refund", 5)), "payments.0: refunds 5 minor units more than the order has left (0)"),
    (order(paid("capture", 5), paid("refund", 6)), "payments.1: refunds 1 minor units more than"),
    (order(paid("capture", 5, "gift"), currency="USD"), "the gift card 'gift' is in GBP, the order in USD"),
    (order(currency="usd"), "currency: must be three capital letters, got 'usd'"),
    (order(status="lost"), "status: must be 'pending', "),
    (order(customer_id="bob"), "customer_id: there is no customer 'bob' in this file or before it"),
    (order(order_id=""), "order_id: must not be empty"),
    (order(order_id="a\nb"), "order_id: must not hold control characters"),
    (order(note="a\0b"), "note: must not hold NUL"),
    (order(note="\ud800"), "note: must not hold NUL or half a surrogate pair"),
    (order(note=None), "note: must not be null"),
    (order(placed_at="yesterday"), "placed_at: must be a date and time like"),
    (order(colour="red"), "colour: is not a key of the shop format"),
    (order(status="return_requested"), "an order that is return_requested needs the key return"),
    (order(**{"return": {"item_ids": ["x"], "payment_method_id": "card"}}), "return.item_ids names items that"),
    (order(items={}), "items: must be a list, got {}"),
    ({"type": "order"}, "order_id: is missing"),
    (customer(), "customer 'ann' stands in line 1 already"),
    (customer(email="jane@example..com"), "email: must be an e-mail address such as ada@example.com"),
    (customer(email="ja\u202ene@example.com"), "email: must be an e-mail address such as ada@example.com"),
    (customer(email="jane@exa\u202emple.com"), "email: must not hold characters that cannot be seen"),
    (customer(phone="call me"), "phone: must be a telephone number such as +44 20 7946 0958"),
    (customer(phone=None), "phone: must not be null"),
    (customer(customer_id="bob"), "payment_method 'card' stands in line 1 already"),
    (customer(customer_id="bob", payment_methods=[{**GIFT, "currency": None}]), "currency: must not be null"),
    (customer(customer_id="bob", payment_methods=[{**CARD, "balance_minor": 1}]), "balance_minor is for gift cards"),
]  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("row", "says"), [*BAD_LINES.items(), *BAD_ROWS], ids=[f"case{n}" for n in range(len(BAD_LINES) + len(BAD_ROWS))]
)
def test_a_bad_line_is_named_and_nothing_is_kept(row: Row | bytes, says: str) -> None:
    with pytest.raises(ShopError) as caught:
        run(customer(), row)
    assert str(caught.value).startswith("line 2: ")
    assert says in str(caught.value)
    assert exported() == []


@pytest.mark.django_db
def test_twenty_bad_lines_are_enough() -> None:
    with pytest.raises(ShopError) as caught:
        run(*[b"no\n"] * 50)
    assert len(str(caught.value).splitlines()) == 20
    with pytest.raises(ShopError, match="holds no line"):
        run(b"\n")


@pytest.mark.django_db
def test_a_gift_card_has_its_stated_balance_after_the_payments() -> None:
    run(
        customer(), order(paid("capture", 60_000, "gift"), paid("refund", 60_000, "gift"), paid("capture", 200, "gift"))
    )
    assert exported()[0] == customer()
    books = as_staff(lambda: list(Account.objects.values_list("kind", "balance_minor").order_by("kind")))
    assert books == [("gift_card", 700), ("opening", 0), ("order", 200)]


@pytest.mark.django_db
def test_news_of_the_shop_update_rows_that_only_it_has_touched() -> None:
    run(customer(), order(paid("capture", 1000)))
    moved = customer(email="new@example.com", payment_methods=[{**GIFT, "balance_minor": 900}, CARD])
    later = order(paid("capture", 1000), paid("refund", 400, "gift"), status="processed", tracking=["T1"])
    assert run(moved, later) == Counts(changed=2)
    assert exported() == [moved, later]


@pytest.mark.django_db
@pytest.mark.parametrize("payments", [[], [paid("capture", 999)], [paid("refund", 1), paid("capture", 1000)]])
def test_payments_in_the_books_stay(payments: list[Row]) -> None:
    run(customer(), order(paid("capture", 1000)))
    with pytest.raises(ShopError, match="line 1: payments: those imported before must stay"):
        run(order(*payments))


@pytest.mark.django_db
def test_a_row_with_writes_of_ours_takes_no_other_line() -> None:
    run(customer(), order(paid("capture", 1000)))
    touch(Order, "1")
    touch(Customer, "ann")
    assert run(customer(), order(paid("capture", 1000))) == Counts(same=2)
    with pytest.raises(ShopError, match=r"line 1: order '1' was changed here since, .* differs in payments, status"):
        run(order(paid("capture", 1000), paid("refund", 1), status="processed"))
    with pytest.raises(ShopError, match="line 1: customer 'ann' was changed here since"):
        run(customer(payment_methods=[CARD, {**GIFT, "balance_minor": 701}]))


@pytest.mark.django_db
def test_what_was_exported_after_a_refund_of_ours_is_nothing_new() -> None:
    run(customer(), order(paid("capture", 1000)))

    def refund() -> None:
        accounts = Account.objects
        Transfer.objects.create(
            kind="refund", debit=accounts.get(order_id="1"), credit=accounts.get(payment_method_id="gift"),
            amount_minor=50, currency="GBP", customer_id="ann", order_id="1", payment_method_id="gift",
        )  # fmt: skip

    as_customer("ann", refund)
    touch(Order, "1")
    touch(Customer, "ann")
    now = exported()
    assert now == [
        customer(payment_methods=[CARD, {**GIFT, "balance_minor": 750}]),
        order(paid("capture", 1000), paid("refund", 50, "gift")),
    ]
    assert run(*now) == Counts(same=2)
    assert run(customer(), order(paid("capture", 1000))) == Counts(same=2)
    assert exported() == now


@pytest.mark.django_db
def test_an_order_alone_cannot_overdraw_a_gift_card() -> None:
    run(customer())
    with pytest.raises(ShopError, match=r"payments.0: the gift card lacks 1 minor units"):
        run(order(paid("capture", 701, "gift")))
    run(order(paid("capture", 600, "gift")))
    assert exported()[0]["payment_methods"][1]["balance_minor"] == 100
    assert run(customer()) == Counts(same=1)
    assert exported()[0]["payment_methods"][1]["balance_minor"] == 100


@pytest.mark.django_db
def test_a_return_holds_what_it_promises_until_the_shop_settles_it() -> None:
    wish = {"item_ids": ["mug"], "payment_method_id": "card"}
    asked = order(paid("capture", 1000), status="return_requested", **{"return": wish})
    run(customer(), asked)
    assert holds() == [("pending", 500)]
    run(asked)
    assert holds() == [("pending", 500)]
    run(order(paid("capture", 1000), paid("refund", 500)))
    assert holds() == [("posted", 500)]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("difference", "method", "held", "says"),
    [
        (-300, "card", [("pending", 300)], ""),
        (300, "gift", [("pending", 300)], ""),
        (300, "card", [], ""),
        (0, "card", [], ""),
        (-1001, "card", [], "exchange.price_difference_minor: is more than what is left for it (1000)"),
        (701, "gift", [], "exchange.price_difference_minor: is more than what is left for it (700)"),
    ],
)
def test_an_exchange_holds_its_difference(difference: int, method: str, held: list[tuple[str, int]], says: str) -> None:
    wish = {"item_ids": ["mug"], "new_item_ids": ["cup"], "payment_method_id": method}
    asked = order(
        paid("capture", 1000), status="exchange_requested", exchange={**wish, "price_difference_minor": difference}
    )
    if says:
        with pytest.raises(ShopError) as caught:
            run(customer(), asked)
        assert says in str(caught.value)
    else:
        run(customer(), asked)
        assert exported()[1] == asked
    assert holds() == held


@pytest.mark.django_db
@pytest.mark.skipif(not PUBLIC.exists(), reason=f"{PUBLIC} is not there: set PLACET_SHARED")
def test_the_public_shop_comes_back_as_data() -> None:
    rows = [json.loads(line) for line in PUBLIC.read_text().splitlines()]
    assert run(PUBLIC.read_bytes()) == Counts(new=1550)
    assert sorted(map(_stable, exported())) == sorted(map(_stable, rows))
    assert run(PUBLIC.read_bytes()) == Counts(same=1550)


def _stable(row: Row) -> str:
    return json.dumps(row, sort_keys=True)


@pytest.mark.django_db
def test_a_broken_line_of_the_command_keeps_nothing(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "shop.jsonl"
    path.write_text(json.dumps(customer()) + "\n" + json.dumps(order(paid("capture", "12"))) + "\n")
    with pytest.raises(CommandError, match=r'^line 2: .* got "12". Nothing of .*shop.jsonl was imported.$'):
        call_command("import_shop", str(path))
    with pytest.raises(CommandError, match=r"none.jsonl cannot be read: No such file or directory."):
        call_command("import_shop", str(tmp_path / "none.jsonl"))
    assert exported() == []
    path.write_text(json.dumps(customer()))
    call_command("import_shop", str(path))
    call_command("import_shop", str(path))
    said = capsys.readouterr()
    assert said.out == "Imported: 1 new, 0 changed, 0 known already.\nNothing new in 1 lines.\n"
    assert said.err == "1 of 1 lines\n" * 2


def test_the_command_exports_one_moment(committing_db: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(customer(), order(paid("capture", 1000)))
    call_command("export_shop")
    assert [json.loads(line)["type"] for line in capsys.readouterr().out.splitlines()] == ["customer", "order"]
    with pytest.raises(CommandError, match=r"^There is no customer 'bob'.$"):
        call_command("export_shop", customer="bob")


text = strategies.text(strategies.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
minor = strategies.integers(0, 10**12)
_numbers = itertools.count()


@strategies.composite
def shops(draw: strategies.DrawFn) -> list[Row]:
    """A customer with one method of each kind, and orders that no row refuses."""
    name = f"throwaway{next(_numbers)}"
    balance = {"kind": "gift_card", "currency": "GBP", "balance_minor": draw(minor)}
    kinds: list[Row] = [{"kind": "card", "last4": "1111"}, {"kind": "paypal"}, balance]
    methods = [{"payment_method_id": f"{name}-{n}", **kind} for n, kind in enumerate(kinds)]
    address = {key: draw(text) for key in ADDRESS}
    rows = [customer(customer_id=name, name=draw(text), address=address, payment_methods=methods)]
    for number in range(draw(strategies.integers(0, 3))):
        payments, left = [], 0
        for method in draw(strategies.lists(strategies.sampled_from(methods), max_size=4)):
            back = left > 0 and draw(strategies.booleans())
            amount = draw(strategies.integers(1, left if back else 10**12))
            left += -amount if back else amount
            payments.append(paid("refund" if back else "capture", min(amount, 10**12), method["payment_method_id"]))
            left = sum(p["amount_minor"] * (1 if p["kind"] == "capture" else -1) for p in payments)
        optional = {
            key: draw(text) for key in draw(strategies.sets(strategies.sampled_from(["note", "cancel_reason"])))
        }
        rows.append(order(*payments, order_id=f"{name}-{number}", customer_id=name, **optional))
    return draw(strategies.permutations(rows))


@pytest.mark.django_db
@hypothesis_settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(shop=shops())
def test_any_shop_comes_back(shop: list[Row]) -> None:
    name = next(row["customer_id"] for row in shop)
    run(*shop)
    assert sorted(map(_stable, exported(customer_id=name))) == sorted(map(_stable, shop))
    assert run(*shop) == Counts(same=len(shop))
