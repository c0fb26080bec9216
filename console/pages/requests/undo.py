"""Pages of second thoughts: taking an approval back, reporting a mistake, and the tasks that leads look after."""

from typing import cast

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy

from approvals import errors
from approvals.decisions import undo
from approvals.models import Staff
from base.access import ADMIN, DECIDES, LEAD, READS_RECORD, role_of, staff_page

CLOSES_TASKS = (LEAD, ADMIN)


@staff_page(acts=DECIDES, what=gettext_lazy("Take one's own approval back"))
def undo_approval(request: HttpRequest, reference: str) -> HttpResponse:
    """Take one's own approval back."""
    try:
        undo.undo(reference=reference, staff=cast(Staff, request.user))
    except errors.NotFound as error:
        raise Http404 from error
    except errors.DecisionError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, gettext("You took your approval of %(reference)s back.") % {"reference": reference})
    return redirect("request", reference)


@staff_page(acts=DECIDES, what=gettext_lazy("Report a mistake"))
def report_mistake(request: HttpRequest, reference: str) -> HttpResponse:
    """Say that something executed should not have been."""
    try:
        task = undo.report_mistake(
            reference=reference, staff=cast(Staff, request.user), text=request.POST.get("text", "")
        )
    except errors.NotFound as error:
        raise Http404 from error
    except errors.Conflict:
        messages.error(request, gettext("Nothing was changed: a mistake is reported once, for what was executed."))
    except errors.DecisionError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, gettext("Reported: a lead will look after it.") + f" {task.get_money_display()}")
    return redirect("request", reference)


@staff_page(READS_RECORD, acts=CLOSES_TASKS, what=gettext_lazy("Tasks: read them; close them"))
def tasks(request: HttpRequest) -> HttpResponse:
    """What waits for a lead; a POST says what was done about one."""
    if request.method != "POST":
        return render(request, "pages/tasks.html", _context(request))
    number = request.POST.get("task", "")
    if role_of(request.user) not in CLOSES_TASKS:
        raise PermissionDenied
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        raise Http404
    try:
        outcome = request.POST.get("outcome", "")
        undo.finish_task(task_id=int(number), staff=cast(Staff, request.user), outcome=outcome)
    except errors.NotFound as error:
        raise Http404 from error
    except errors.DecisionError as error:
        status = 422 if isinstance(error, errors.Invalid) else 409
        return render(request, "pages/tasks.html", _context(request, error.message), status=status)
    messages.success(request, gettext("The task is done."))
    return redirect("tasks")


def _context(request: HttpRequest, error: str = "") -> dict[str, object]:
    return {
        "tasks": undo.tasks_open(),
        "closes": role_of(request.user) in CLOSES_TASKS,
        "error": {"message": error} if error else None,
    }
