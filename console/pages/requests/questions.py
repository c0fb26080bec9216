"""Asking the customer about a request: fixed questions, so that nobody steers a conversation by them.

The question appears in the chat as a notice. It is no part of what the model reads, and who asked may still decide.
"""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents.chat.notices import notice
from agents.models import Conversation, Message
from approvals.errors import Conflict, Invalid
from approvals.models import Question, Request, Staff
from approvals.news import desk_changed
from approvals.requests.assignment import require_decider
from approvals.requests.lifecycle import desk_event, locked, require_decidable
from audit.record import Actor, record

Code = Question.Code
LABELS: Mapping[str, str | Promise] = {
    Code.PHOTO: gettext_lazy("a photo"),
    Code.WHAT_HAPPENED: gettext_lazy("what happened"),
    Code.WHICH_ITEM: gettext_lazy("which item it is about"),
    Code.DELIVERY: gettext_lazy("when and how it arrived"),
    Code.METHOD: gettext_lazy("whether the payment method is right"),
    Code.STILL_WANTED: gettext_lazy("whether it is still wanted"),
}
TEXTS: Mapping[str, str] = {
    Code.PHOTO: "please tell us what a photo of the item would show, and keep one ready for our team",
    Code.WHAT_HAPPENED: "please tell us in a few sentences what happened",
    Code.WHICH_ITEM: "please tell us which item of the order it is about",
    Code.DELIVERY: "please tell us when and in what condition the parcel arrived",
    Code.METHOD: "please check that the payment method named there is yours and is the one you want",
    Code.STILL_WANTED: "please tell us whether you still want this",
}
"""What customers read, after "A person is looking at request R-...": plain statements that promise nothing."""


def text_of(code: str, reference: str, summary: str) -> str:
    """The notice that the customer reads."""
    about = summary[:1].lower() + summary[1:]
    return f"A person is looking at request {reference} ({about}). To decide it, {TEXTS[code]}. You can answer here."


def ask(*, reference: str, staff: Staff, code: str) -> Question:
    """Ask one of the fixed questions, each at most once per request. Races with a decision at the request's lock, and
    two who ask the same at once meet at the constraint."""
    require_decider(staff)
    if code not in TEXTS:
        raise Invalid({"code": [_("Choose one of the questions.")]})
    with transaction.atomic():
        request = locked(reference)
        require_decidable(request)
        question = _keep(request, staff, code)
        record(Actor(kind="staff", id=staff.username), desk_event(request, "asked"), question=code)
        if not request.is_decoy:
            text = text_of(code, reference, request.preview["summary"])
            notice(request.conversation_id, text, key=f"question:{question.pk}")
        desk_changed.send(Request, reference=reference)
    return question


def _keep(request: Request, staff: Staff, code: str) -> Question:
    closed = Conversation.objects.filter(pk=request.conversation_id, state=Conversation.State.CLOSED)
    if closed.exists():
        raise Invalid({"code": [_("The conversation is closed, so the customer cannot answer there.")]})
    try:
        with transaction.atomic():
            return Question.objects.create(request=request, staff=staff, code=code)
    except IntegrityError as error:
        raise Conflict("asked", "", None) from error


def asked(request: Request) -> list[dict[str, Any]]:
    """What was asked about a request and when the customer wrote after it, oldest first."""
    questions = list(request.questions.select_related("staff").order_by("at"))
    said = Message.objects.filter(conversation_id=request.conversation_id, author=Message.Author.CUSTOMER)
    times = list(said.order_by("id").values_list("created_at", flat=True)) if questions else []
    return [
        {
            "label": LABELS[question.code],
            "by": question.staff.username,
            "at": question.at,
            "answered_at": next((at for at in times if at > question.at), None),
        }
        for question in questions
    ]


def askable(request: Request) -> list[tuple[str, str | Promise, str]]:
    """The questions that are left: code, what they ask for, and what the customer would read."""
    before = set(request.questions.values_list("code", flat=True))
    summary = request.preview.get("summary", "")
    return [(code, label, text_of(code, request.pk, summary)) for code, label in LABELS.items() if code not in before]
