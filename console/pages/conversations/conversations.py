"""Conversations: the list, one with its desk, and what a person does in it."""

import uuid
from typing import Any, cast

from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents.chat import lists, takeover
from agents.models import Conversation, ToolCall
from approvals.casefile import notes
from approvals.decisions.participants import takes_part
from approvals.errors import DecisionError, Forbidden, Invalid, NotFound
from approvals.models import Request, Staff
from base.access import DECIDES, LEAD, READS_CONSOLE, staff_page
from base.keyset import BadCursor
from console.forms.conversations import SayForm, SearchForm, TakeForm
from console.forms.customers import NoteForm
from console.pages.conversations.fragments import read_by
from console.pages.conversations.search import found_by, names_of

_STATUS: dict[type[DecisionError], int] = {
    Forbidden: 403,
    Invalid: 422,
    takeover.NotYours: 409,
    takeover.OtherText: 409,
}
_TABS = {
    "all": gettext_lazy("All"),
    "open": gettext_lazy("With the assistant"),
    "handed_over": gettext_lazy("Handed over"),
    "with_staff": gettext_lazy("With staff"),
    "closed": gettext_lazy("Closed"),
}


@staff_page(READS_CONSOLE, what=gettext_lazy("Conversations"))
def conversations(request: HttpRequest) -> HttpResponse:
    """The list; tab, search and place in it stand in the address."""
    form = SearchForm(request.GET)
    if "state" in form.errors:
        raise Http404
    tab, query = form.cleaned_data["state"] or "all", form.cleaned_data.get("q", "")
    wrong = list(form.errors.get("q", []))
    where = Q(pk__in=[]) if wrong else found_by(query)
    try:
        page = lists.page(tab=tab, where=where, place=request.GET.get("before", ""))
    except BadCursor as error:
        raise Http404 from error
    names = names_of({found.customer_id for found in page.conversations})
    kept = {"state": tab, "q": query}
    context = {
        "tabs": [(name, label, urlencode({**kept, "state": name})) for name, label in _TABS.items()],
        "tab": tab,
        "query": form["q"].value() or "",
        "wrong": wrong,
        "conversations": [(found, names.get(found.customer_id, found.customer_id)) for found in page.conversations],
        "before": urlencode({**kept, "before": page.following}) if page.following else "",
        "is_later": "before" in request.GET,
    }
    return render(request, "pages/conversations/conversations.html", context, status=422 if wrong else 200)


@staff_page(READS_CONSOLE)
def conversation(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """One conversation with its desk."""
    return _page(request, _found(conversation_id))


def _page(request: HttpRequest, found: Conversation, status: int = 200, **more: Any) -> HttpResponse:
    context = read_by(request, found) | _desk(request, found) | {"name": names_of({found.customer_id})}
    context |= {"note_form": NoteForm(), **more}
    context |= {"name": context["name"].get(found.customer_id, found.customer_id), "notes": notes.notes_on(found.pk)}
    context |= {"live": _seal_of_transcript(found), "follows": "before" not in request.GET}
    return render(request, "pages/conversations/conversation.html", context, status=status)


@staff_page(READS_CONSOLE)
def live(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """What was said, for a page that follows it: 204 while that has seen everything."""
    found = _found(conversation_id)
    seal = _seal_of_transcript(found)
    if request.GET.get("seen") == seal:
        return HttpResponse(status=204)
    return render(request, "pages/conversations/_live.html", read_by(request, found) | {"live": seal, "follows": True})


def _seal_of_transcript(found: Conversation) -> str:
    last = found.messages.order_by("-id").values_list("pk", flat=True).first()
    results = ToolCall.objects.filter(message__conversation=found).order_by("-message_id", "-id")
    return f"{last}-{results.values_list('pk', flat=True).first()}"


@staff_page(READS_CONSOLE)
def desk(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Who has it and what one may do, for a page that follows it: 204 while nothing has changed."""
    context = _desk(request, _found(conversation_id))
    if request.GET.get("seen") == context["desk_seal"]:
        return HttpResponse(status=204)
    return render(request, "pages/conversations/_desk.html", context)


def _desk(request: HttpRequest, found: Conversation) -> dict[str, Any]:
    staff = _staff(request)
    waiting = list(Request.objects.filter(conversation_id=found.pk, state="pending").order_by("created_at")[:20])
    hand_off = lists.waiting_hand_off(found.pk)
    mine = found.holder == staff
    others = found.holder is not None and not mine
    return {
        "conversation": found,
        "refusal": takeover.refusal_for(found, staff),
        "mine": mine,
        "may_take": found.state != "closed" and not mine and (not others or staff.role == LEAD),
        "may_end": mine or (others and staff.role == LEAD),
        "took_part": takes_part(conversation_id=found.pk, staff=staff),
        "waiting": waiting,
        "decides": staff.role in DECIDES,
        "hand_off": hand_off,
        "client_id": uuid.uuid4().hex,
        "desk_seal": f"{found.state}-{found.holder_id}-{hand_off and hand_off.pk}-{len(waiting)}",
    }


@staff_page(acts=DECIDES, what=gettext_lazy("Take a conversation over, answer the customer, hand it back"))
def take(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Take it over from the assistant, or a lead from a colleague."""
    form = TakeForm(request.POST)
    if not form.is_valid():
        messages.error(request, form.refusal.message)
        return _page(request, _found(conversation_id), 422)
    told = _("It is yours. The assistant is silent.")
    return _deed(request, conversation_id, takeover.take_over, told, **form.cleaned_data)


@staff_page(acts=DECIDES)
def hand_back(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Let the assistant go on."""
    told = _("Handed back: the assistant answers the customer's next message.")
    return _deed(request, conversation_id, takeover.hand_back, told)


@staff_page(acts=DECIDES, what=gettext_lazy("Close a conversation"))
def close(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """End it."""
    return _deed(request, conversation_id, takeover.close, _("The conversation is closed."))


def _deed(request: HttpRequest, conversation_id: uuid.UUID, deed: Any, told: str, **more: str) -> HttpResponse:
    try:
        deed(conversation_id=conversation_id, staff=_staff(request), **more)
    except NotFound as error:
        raise Http404 from error
    except DecisionError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, told)
    return redirect("conversation", conversation_id)


@staff_page(acts=DECIDES)
def say(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Write to the customer; what could not be sent stays in its field."""
    form = SayForm(request.POST)
    try:
        takeover.say(conversation_id=conversation_id, staff=_staff(request), **form.checked())
    except NotFound as error:
        raise Http404 from error
    except DecisionError as error:
        typed = {"error": error, "typed": form["text"].value() or ""}
        return _answer(request, _found(conversation_id), _STATUS[type(error)], **typed)
    if not request.headers.get("HX-Request"):
        return redirect("conversation", conversation_id)
    return _answer(request, _found(conversation_id), 200, sent=True)


def _answer(request: HttpRequest, found: Conversation, status: int, **more: Any) -> HttpResponse:
    if not request.headers.get("HX-Request"):
        return _page(request, found, status, **more)
    return render(request, "pages/conversations/_desk.html", _desk(request, found) | more, status=status)


@staff_page(acts=DECIDES, what=gettext_lazy("Write a note about a conversation"))
def note(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Write something down about it, for colleagues alone."""
    found, form = _found(conversation_id), NoteForm(request.POST)
    if not form.is_valid():
        return _page(request, found, 422, note_form=form)
    notes.write_note(
        staff=_staff(request), customer_id=found.customer_id, conversation_id=found.pk, text=form.cleaned_data["text"]
    )
    messages.success(request, _("The note is kept."))
    return redirect("conversation", conversation_id)


def _found(conversation_id: uuid.UUID) -> Conversation:
    return get_object_or_404(Conversation.objects.select_related("holder"), pk=conversation_id)


def _staff(request: HttpRequest) -> Staff:
    return cast(Staff, request.user)
