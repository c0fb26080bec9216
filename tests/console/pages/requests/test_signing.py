"""Above the higher line: a fresh authentication, a passkey's signature, and the evidence that stays."""

import datetime as dt
import json
import re
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from approvals.decisions import signatures
from approvals.models import Decision, Request, Signature, Staff
from tests.conftest import Propose
from tests.console.conftest import Browser, add_app, add_passkey, code_of
from tests.support.cast import PASSWORD
from tests.support.passkey import Passkey

pytestmark = pytest.mark.django_db
LATER = dt.timedelta(minutes=16)


@pytest.fixture
def great(propose: Propose) -> Request:
    """£600: two people, one of them a lead."""
    propose("issue_refund", order_id="4472", amount_minor=60_000, reason="late")
    return Request.objects.get()


@pytest.fixture
def small(propose: Propose) -> Request:
    propose("issue_refund", order_id="4471", amount_minor=9_900, reason="damaged")
    return Request.objects.get()


def page_of(request: Request) -> str:
    return reverse("request", args=[request.pk])


def form_on(client: Client, request: Request, **typed: str) -> dict[str, str]:
    body = client.get(page_of(request)).content.decode()
    return {**dict(re.findall(r'<input type="hidden" name="(digest|shown)" value="([^"]*)"', body)), **typed}


def options_for(client: Client, request: Request, form: dict[str, str]) -> dict[str, Any]:
    answer = client.post(reverse("request-challenge", args=[request.pk]), form)
    assert answer.status_code == 200
    return answer.json()


def signed(client: Client, request: Request, passkey: Passkey, **typed: str) -> dict[str, str]:
    """A form as the page's script would send it."""
    form = form_on(client, request, verdict="approve", **typed)
    options = options_for(client, request, form)
    return {**form, "nonce": options["nonce"], "assertion": json.dumps(passkey.sign(options))}


def test_an_old_sign_in_is_not_enough_and_what_was_typed_stays(
    great: Request, agent: Staff, signed_in_by_password: Browser
) -> None:
    client = signed_in_by_password(agent)
    with time_machine.travel(timezone.now() + LATER):
        form = form_on(client, great, verdict="approve", note="seen the photo")
        answer = client.post(page_of(great), form)
        assert answer.status_code == 403
        body = answer.content.decode()
        assert "confirm that it is you" in body
        assert "seen the photo</textarea>" in body
        assert reverse("account_reauthenticate") in body
        part = client.post(reverse("account_reauthenticate"), {"password": PASSWORD}, headers={"HX-Request": "true"})
        assert b"Confirmed" in part.content
        assert client.post(page_of(great), form).status_code == 302
    assert Decision.objects.get().note == "seen the photo"


def test_a_denial_asks_the_same(great: Request, agent: Staff, signed_in_by_password: Browser) -> None:
    client = signed_in_by_password(agent)
    with time_machine.travel(timezone.now() + LATER):
        form = form_on(client, great, verdict="deny", reason_code="policy")
        assert client.post(page_of(great), form).status_code == 403


def test_below_the_line_nothing_is_asked(small: Request, agent: Staff, signed_in_by_password: Browser) -> None:
    client = signed_in_by_password(agent, confirm=True)
    add_passkey(client)
    with time_machine.travel(timezone.now() + LATER):
        assert client.post(page_of(small), form_on(client, small, verdict="approve")).status_code == 302
    assert not Signature.objects.exists()


def test_a_session_of_the_api_hears_the_code(great: Request, agent: Staff, signed_in_by_password: Browser) -> None:
    client = signed_in_by_password(agent)
    url, body = f"/api/approvals/{great.pk}/decide/", {"verdict": "approve", "digest": great.digest}
    with time_machine.travel(timezone.now() + LATER):
        answer = client.post(url, body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (403, "fresh_authentication_required")
    assert client.post(url, body, content_type="application/json").status_code == 200


def test_confirming_asks_for_a_code_where_codes_are_used(agent: Staff, signed_in_by_password: Browser) -> None:
    client, url = signed_in_by_password(agent, confirm=True), reverse("account_reauthenticate")
    secret = add_app(client)
    assert client.post(url, {"password": PASSWORD}).status_code == 422
    with time_machine.travel(timezone.now() + dt.timedelta(minutes=2)):
        assert client.post(url, {"password": PASSWORD, "code": code_of(secret)}).status_code == 302
    answers = [client.post(url, {"password": "wrong"}).status_code for _ in range(6)]
    assert answers == [422] * 5 + [429]


def test_a_passkey_signs_even_after_long(great: Request, agent: Staff, signed_in_by_password: Browser) -> None:
    client = signed_in_by_password(agent, confirm=True)
    passkey = add_passkey(client)
    with time_machine.travel(timezone.now() + LATER):
        answer = client.post(page_of(great), signed(client, great, passkey))
        assert answer.status_code == 302, answer.content.decode()
    kept = Signature.objects.get()
    assert json.loads(kept.signed) | {"nonce": ""} == {
        "purpose": "placet decision 1", "reference": great.pk, "revision": 1, "digest": great.digest,
        "verdict": "approve", "amount_minor": None, "nonce": "",
    }  # fmt: skip
    assert signatures.complaint_about(kept) == ""
    assert "Signed with a passkey" in client.get(page_of(great)).content.decode()


def test_without_the_signature_nothing_is_approved(
    great: Request, agent: Staff, signed_in_by_password: Browser
) -> None:
    client = signed_in_by_password(agent, confirm=True)
    add_passkey(client)
    assert client.post(page_of(great), form_on(client, great, verdict="approve")).status_code == 403
    answer = client.post(
        f"/api/approvals/{great.pk}/decide/", {"verdict": "approve", "digest": great.digest}, "application/json"
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "fresh_authentication_required")
    assert not Decision.objects.exists()


Spoil = Callable[[Client, Request, Passkey, dict[str, str]], dict[str, str]]


def _unverified(client: Client, request: Request, passkey: Passkey, form: dict[str, str]) -> dict[str, str]:
    options = options_for(client, request, form)
    return {"nonce": options["nonce"], "assertion": json.dumps(passkey.sign(options, verified=False))}


def _other_key(client: Client, request: Request, passkey: Passkey, form: dict[str, str]) -> dict[str, str]:
    other = Passkey()
    other.id = passkey.id
    options = options_for(client, request, form)
    return {"nonce": options["nonce"], "assertion": json.dumps(other.sign(options))}


def _other_site(client: Client, request: Request, passkey: Passkey, form: dict[str, str]) -> dict[str, str]:
    passkey.origin = "https://evil.example"
    options = options_for(client, request, form)
    return {"nonce": options["nonce"], "assertion": json.dumps(passkey.sign(options))}


def _other_amount(client: Client, request: Request, passkey: Passkey, form: dict[str, str]) -> dict[str, str]:
    """Signed for £550, sent for £590."""
    options = options_for(client, request, {**form, "amount": "550"})
    return {"nonce": options["nonce"], "assertion": json.dumps(passkey.sign(options)), "amount": "590"}


def _old_nonce(client: Client, request: Request, passkey: Passkey, form: dict[str, str]) -> dict[str, str]:
    with time_machine.travel(timezone.now() - dt.timedelta(minutes=6)):
        nonce = signatures.new_nonce(request, Staff.objects.get())
    text = signatures.text_to_sign(request, verdict="approve", amount_minor=None, nonce=nonce)
    challenge = signatures.encode(signatures.challenge_of(text))
    return {"nonce": nonce, "assertion": json.dumps(passkey.sign({"publicKey": {"challenge": challenge}}))}


def _rubbish(client: Client, request: Request, passkey: Passkey, form: dict[str, str]) -> dict[str, str]:
    return {"nonce": "x", "assertion": '{"id": 1, "rawId": [], "response": {}}'}


@pytest.mark.parametrize("spoil", [_unverified, _other_key, _other_site, _other_amount, _old_nonce, _rubbish])
def test_what_does_not_fit_signs_nothing(
    great: Request, agent: Staff, signed_in_by_password: Browser, spoil: Spoil
) -> None:
    client = signed_in_by_password(agent, confirm=True)
    passkey = add_passkey(client)
    form = form_on(client, great, verdict="approve")
    assert client.post(page_of(great), {**form, **spoil(client, great, passkey, form)}).status_code == 403
    assert not Decision.objects.exists()


def test_a_lower_amount_is_part_of_what_is_signed(great: Request, agent: Staff, signed_in_by_password: Browser) -> None:
    client = signed_in_by_password(agent, confirm=True)
    passkey = add_passkey(client)
    answer = client.post(page_of(great), signed(client, great, passkey, amount="590"))
    assert answer.status_code == 302, answer.content.decode()
    kept = Signature.objects.get()
    assert json.loads(kept.signed)["amount_minor"] == 59_000
    assert kept.decision.revision == 2
    assert signatures.complaint_about(kept) == ""


# The evidence.


@pytest.fixture
def kept(great: Request, agent: Staff, signed_in_by_password: Browser) -> Signature:
    client = signed_in_by_password(agent, confirm=True)
    client.post(page_of(great), signed(client, great, add_passkey(client)))
    return Signature.objects.get()


def test_it_is_checked_offline(kept: Signature, settings: Any) -> None:
    settings.SECRET_KEY = "another one, which is not needed to check anything"
    Authenticator.objects.get(type="webauthn").delete()
    out = StringIO()
    call_command("verify_signatures", stdout=out)
    call_command("verify_signatures", kept.decision.request_id, stdout=out)
    assert out.getvalue().count("1 signatures, and each fits") == 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda kept: setattr(kept, "signed", kept.signed.replace('"approve"', '"deny"')), "not what is kept"),
        (lambda kept: setattr(kept, "client_data", b"{}"), "not those of a passkey"),
        (lambda kept: setattr(kept, "signature", bytes(70)), "not by this key"),
        (lambda kept: setattr(kept, "public_key", b"\xa0"), "not by this key"),
        (lambda kept: setattr(kept, "rp_id", "evil.example"), "another site"),
        (lambda kept: setattr(kept, "authenticator_data", bytes(kept.authenticator_data)[:32] + b"\1" + bytes(4)),
         "did not verify"),
        (lambda kept: setattr(kept.decision, "verdict", "deny"), "not what was decided"),
        (lambda kept: setattr(kept.decision, "digest", "0" * 64), "not what was decided"),
        (lambda kept: setattr(kept.decision.staff, "username", "otto"), "does not say that otto"),
    ],
)  # fmt: skip
def test_any_change_of_it_shows(kept: Signature, change: Callable[[Signature], None], says: str) -> None:
    change(kept)
    assert says in signatures.complaint_about(kept)


def test_the_command_names_what_does_not_fit(kept: Signature, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signatures, "PURPOSE", "something else")
    with pytest.raises(CommandError, match=f"{kept.decision.request_id}, by ada: .*not what was decided"):
        call_command("verify_signatures")


def test_what_was_signed_is_not_sent_twice(great: Request, agent: Staff, signed_in_by_password: Browser) -> None:
    client = signed_in_by_password(agent, confirm=True)
    form = signed(client, great, add_passkey(client))
    assert client.post(page_of(great), form).status_code == 302
    client.post(reverse("request-undo", args=[great.pk]))
    assert client.post(page_of(great), form).status_code == 403
    assert Decision.objects.count() == 1


def test_the_database_takes_a_nonce_once(kept: Signature, lead: Staff) -> None:
    other = Decision.objects.create(
        request=kept.decision.request, revision=1, verdict="approve", staff=lead, customer_id="maya",
        digest=kept.decision.digest, shown_hash="0" * 64, shown={},
    )  # fmt: skip
    again = Signature.objects.get()
    again.pk = other.pk
    with pytest.raises(IntegrityError, match="nonce"), transaction.atomic():
        again.save(force_insert=True)
