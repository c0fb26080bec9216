"""Pages of second thoughts: taking an approval back, reporting a mistake, reopening what was denied, and tasks."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy

from approvals import errors
from approvals.decisions import reopening, undo
from base.access import ADMIN, DECIDES, LEAD, READS_RECORD, role_of, staff_page
from console.forms.requests import MistakeForm, ReopenForm, TaskForm
from console.pages.requests.request import refused
from console.people import staff_of

CLOSES_TASKS = (LEAD, ADMIN)


@staff_page(acts=DECIDES, what=gettext_lazy("Take one's own approval back"))
def undo_approval(request: HttpRequest, reference: str) -> HttpResponse:
    """Take one's own approval back."""
    try:
        undo.undo(reference=reference, staff=staff_of(request))
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
    form = MistakeForm(request.POST)
    if not form.is_valid():
        return refused(request, reference, form)
    try:
        task = undo.report_mistake(reference=reference, staff=staff_of(request), text=form.cleaned_data["text"])
    except errors.NotFound as error:
        raise Http404 from error
    except errors.Conflict:
        messages.error(request, gettext("Nothing was changed: a mistake is reported once, for what was executed."))
    except errors.DecisionError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, gettext("Reported: a lead will look after it.") + f" {task.get_money_display()}")
    return redirect("request", reference)


@staff_page(acts=(LEAD,), what=gettext_lazy("Let what was denied be asked for again"))
def reopen(request: HttpRequest, reference: str) -> HttpResponse:
    """Let the customer ask once more for what a person denied."""
    form = ReopenForm(request.POST)
    if not form.is_valid():
        return refused(request, reference, form)
    try:
        reopening.reopen(reference=reference, staff=staff_of(request), reason=form.cleaned_data["reason"])
    except errors.NotFound as error:
        raise Http404 from error
    except errors.DecisionError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, gettext("The customer can ask for it again."))
    return redirect("request", reference)


@staff_page(READS_RECORD, acts=CLOSES_TASKS, what=gettext_lazy("Tasks: read them; close them"))
def tasks(request: HttpRequest) -> HttpResponse:
    """What waits for a lead; a POST says what was done about one."""
    if request.method != "POST":
        return render(request, "pages/tasks.html", _context(request))
    if role_of(request.user) not in CLOSES_TASKS:
        raise PermissionDenied
    form = TaskForm(request.POST)
    if "task" in form.errors:
        raise Http404
    if not form.is_valid():
        return render(request, "pages/tasks.html", _context(request, form=form), status=422)
    given = form.cleaned_data
    try:
        undo.finish_task(task_id=given["task"], staff=staff_of(request), outcome=given["outcome"])
    except errors.NotFound as error:
        raise Http404 from error
    except errors.DecisionError as error:
        return render(request, "pages/tasks.html", _context(request, error.message), status=409)
    messages.success(request, gettext("The task is done."))
    return redirect("tasks")


def _context(request: HttpRequest, error: str = "", form: TaskForm | None = None) -> dict[str, object]:
    number = form.cleaned_data["task"] if form else None
    return {
        "tasks": [
            (task, form if task.pk == number else TaskForm(auto_id=f"task-{task.pk}-%s")) for task in undo.tasks_open()
        ],
        "closes": role_of(request.user) in CLOSES_TASKS,
        "error": {"message": error} if error else None,
    }
