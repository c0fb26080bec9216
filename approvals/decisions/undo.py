"""Second thoughts: an approval is taken back until a worker executes it, and a mistake is reported afterwards."""

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from approvals.decisions.tally import approvers_of
from approvals.errors import Conflict, Forbidden, Invalid, NotFound, grouped
from approvals.models import Request, Staff, Task, Withdrawal
from approvals.news import request_changed
from approvals.requests.assignment import require_decider
from approvals.requests.lifecycle import event_of, locked, move
from audit.models import Kind
from audit.record import Actor, NewEvent, record
from ledger.payouts.recalls import TooLate, recall

MOST_TEXT = 1_000


def undo(*, reference: str, staff: Staff) -> Request:
    """Take one's own approval back; the request waits again, and one may decide again. Races with the worker that
    executes it at the request's lock: who comes second is told."""
    with transaction.atomic():
        request = locked(reference)
        require_decider(staff)
        if request.state not in ("pending", "approved"):
            raise Conflict(request.state, request.decided_by, request.decided_at)
        own = next((approver for approver in approvers_of(request) if approver.staff_id == staff.pk), None)
        if own is None:
            raise Forbidden("not_yours", _("You can only take your own approval back."))
        Withdrawal.objects.create(decision_id=own.decision_id, staff=staff)
        was_approved = request.state == Request.State.APPROVED
        if was_approved:
            waits = {"execute_after": None, "execute_before": None, "decided_by": "", "decided_at": None}
            move(request, to=Request.State.PENDING, expected=("approved",), **waits)
        actor = Actor(kind="staff", id=staff.username)
        Request.objects.filter(pk=request.pk).update(second_approver=None)
        record(actor, event_of(request, kind="decision", decision="undone"), digest=request.digest)
        if was_approved:
            request_changed.send(Request, request=request, customer_message="", what="undone")
    return request


def report_mistake(*, reference: str, staff: Staff, text: str) -> Task:
    """Say that something executed should not have been: its money is recalled if it has not been sent, and a lead
    looks after the rest."""
    text = text.strip()
    if not text or len(text) > MOST_TEXT:
        raise Invalid(
            {"text": [_("Say what went wrong, in at most %(most)s characters.") % {"most": grouped(MOST_TEXT)}]}
        )
    with transaction.atomic():
        request = locked(reference)
        require_decider(staff)
        if request.state != Request.State.EXECUTED or _reported(request):
            raise Conflict(request.state, request.decided_by, request.decided_at)
        task = Task.objects.create(
            kind=Task.Kind.MISTAKE, reference=reference, customer_id=request.customer_id, text=text, opened_by=staff,
            money=recall_money(entry=request.entry_reference, customer_id=request.customer_id, staff=staff),
        )  # fmt: skip
        record(Actor(kind="staff", id=staff.username), event_of(request, kind="request", decision="mistake"), note=text)
    return task


def recall_money(*, entry: str, customer_id: str, staff: Staff) -> Task.Money:
    """Take the money of something executed back if it has not been sent; what became of it, as a task says it."""
    actor = Actor(kind="staff", id=staff.username)
    try:
        recalled = recall(entry=entry, customer_id=customer_id, actor=actor)
    except TooLate:
        return Task.Money.LEFT
    return Task.Money.RECALLED if recalled else Task.Money.NONE


def tasks_open() -> QuerySet[Task]:
    """What waits for a lead, oldest first."""
    return Task.objects.filter(done_at=None).select_related("opened_by").order_by("opened_at")


def finish_task(*, task_id: int, staff: Staff, outcome: str) -> None:
    """Say what was done about a task; the first to say so ends it."""
    outcome = outcome.strip()
    if not outcome or len(outcome) > MOST_TEXT:
        raise Invalid(
            {"outcome": [_("Say what was done, in at most %(most)s characters.") % {"most": grouped(MOST_TEXT)}]}
        )
    with transaction.atomic():
        task = Task.objects.select_for_update(of=("self",)).select_related("done_by").filter(pk=task_id).first()
        if task is None:
            raise NotFound(_("There is no such task."))
        if task.done_by is not None:
            raise Conflict("done", task.done_by.username, task.done_at)
        Task.objects.filter(pk=task_id).update(done_by=staff, done_at=Now(), outcome=outcome)
        event = NewEvent(
            kind=Kind.REQUEST, decision="task_done", reference=task.reference, customer_id=task.customer_id
        )
        record(Actor(kind="staff", id=staff.username), event, note=outcome)


def _reported(request: Request) -> bool:
    return Task.objects.filter(kind=Task.Kind.MISTAKE, reference=request.pk, done_at=None).exists()
