"""The staff API of requests: list, read, decide, claim. Roles and checks are those of the console, which alone shows
decoys."""

import datetime as dt
from collections.abc import Callable
from typing import Any, cast

from django.http import Http404
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request as ApiRequest
from rest_framework.response import Response

from approvals import api_shapes as shapes
from approvals import errors
from approvals.casefile.contents import case_file
from approvals.decisions import bulk, deciding, eligibility, reauthentication, tally, undo
from approvals.models import Request, Staff
from approvals.requests import assignment
from base.access import DECIDES
from base.http.errors import ApiError, invalid
from base.http.paging import next_url
from base.http.staff_api import StaffView
from base.keyset import BadCursor, Keyset

MOST, USUAL = 200, 50
_SOONEST = Keyset({"expires_at": dt.datetime, "reference": str})


class StaffTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "approvals.people.authentication.StaffTokenAuthentication"
    name = "staffToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}


class Requests(StaffView):
    @extend_schema(
        responses={200: shapes.RequestPage},
        parameters=[OpenApiParameter(name, str) for name in ("state", "conversation", "customer", "cursor")]
        + [OpenApiParameter("limit", int)],
    )
    def get(self, request: ApiRequest) -> Response:
        """Requests, soonest `expires_at` first; all states unless `state` says which."""
        filters = shapes.RequestFilters(data=request.query_params)
        filters.is_valid(raise_exception=True)
        wanted = filters.validated_data
        found = Request.objects.filter(is_decoy=False)
        for name, column in (
            ("state", "state"),
            ("conversation", "conversation_id"),
            ("customer", "customer_id"),
        ):
            if value := wanted.get(name):
                found = found.filter(**{column: value})
        try:
            part = _SOONEST.page(found, wanted.get("cursor"), wanted.get("limit", USUAL))
        except BadCursor as exc:
            raise invalid({"cursor": ["Use `next` as it was given."]}) from exc
        return Response({"results": [show(row) for row in part.rows], "next": next_url(request, part.cursor or None)})


def show(request: Request) -> dict[str, Any]:
    """A request as the staff API gives it."""
    return {
        "reference": request.reference,
        "state": request.state,
        "digest": request.digest,
        "tool": request.tool,
        "arguments": request.arguments,
        "amount_minor": request.amount_minor,
        "currency": request.currency,
        "customer_id": request.customer_id,
        "conversation_id": str(request.conversation_id),
        "rule": request.rule,
        "approvals_needed": request.approvals_needed,
        "approvals_given": tally.approvals_given(request),
        "created_at": request.created_at,
        "expires_at": request.expires_at,
    }


class OneRequest(StaffView):
    @extend_schema(responses={200: shapes.RequestDetail})
    def get(self, request: ApiRequest, reference: str) -> Response:
        """One request with its preview, case file and decisions. Reading it is an event."""
        found = _find(reference)
        return Response(_whole(found, cast(Staff, request.user)))


def _whole(found: Request, staff: Staff) -> dict[str, Any]:
    decided = found.decisions.order_by("id").values(
        "verdict", "revision", "staff__username", "reason_code", "note", "customer_message", "at"
    )
    shown = {**show(found), "preview": found.preview, "case_file": case_file(found, staff=staff)}
    return shown | {"decisions": [{"by": row.pop("staff__username"), **row} for row in map(dict, decided)]}


def _real(reference: str) -> Request | None:
    return Request.objects.filter(pk=reference, is_decoy=False).first()


def _find(reference: str) -> Request:
    if (found := _real(reference)) is None:
        raise Http404
    return found


class Decide(StaffView):
    roles = DECIDES

    @extend_schema(request=shapes.NewDecision, responses={200: shapes.RequestShape})
    def post(self, request: ApiRequest, reference: str) -> Response:
        """Approve or deny what `digest` names. The first of two approvals leaves the request pending."""
        staff, by_token = cast(Staff, request.user), request.auth is not None
        body = shapes.NewDecision(data=request.data)
        found = _real(reference)
        if found is not None and (refusal := eligibility.refusal_for(found, staff, by_token=by_token)):
            raise _answer(refusal)
        if found is None:
            raise Http404
        came = reauthentication.ABSENT if by_token else reauthentication.presence_of(request._request, {})
        if not by_token and (stale := reauthentication.stale(found, came)):
            raise _answer(stale)
        body.is_valid(raise_exception=True)
        shown = {"preview": found.preview, "digest": found.digest, "rule": found.rule}
        return _run(
            reference,
            lambda: deciding.decide(
                reference=reference, staff=staff, by_token=by_token, proof=came, shown=shown, **body.validated_data
            ),
        )


class Bulk(StaffView):
    roles = DECIDES

    @extend_schema(request=shapes.BulkApproval, responses={200: shapes.BulkResults})
    def post(self, request: ApiRequest) -> Response:
        """Approve at most 20 small requests, each by its digest and each for itself."""
        body = shapes.BulkApproval(data=request.data)
        body.is_valid(raise_exception=True)
        chosen = [(item["reference"], item["digest"]) for item in body.validated_data["items"]]
        staff, by_token = cast(Staff, request.user), request.auth is not None
        try:
            done = bulk.approve_all(chosen=chosen, staff=staff, by_token=by_token)
        except errors.Invalid as exc:
            raise invalid(exc.fields) from exc
        return Response({"results": [_show_done(one) for one in done]})


def _show_done(one: bulk.Done) -> dict[str, Any]:
    if one.error is None:
        return {"reference": one.reference, "state": one.request and one.request.state, "message": ""}
    return {"reference": one.reference, "state": None, "message": one.error.message}


class Claim(StaffView):
    roles = DECIDES

    @extend_schema(request=None, responses={200: shapes.RequestShape})
    def post(self, request: ApiRequest, reference: str) -> Response:
        """Tell colleagues that one is on it, for five minutes."""
        return _run(reference, lambda: assignment.assign(reference=reference, staff=cast(Staff, request.user)))


class Release(StaffView):
    roles = DECIDES

    @extend_schema(request=None, responses={200: shapes.RequestShape})
    def post(self, request: ApiRequest, reference: str) -> Response:
        """Give back what one has."""
        return _run(reference, lambda: assignment.release(reference=reference, staff=cast(Staff, request.user)))


class Undo(StaffView):
    roles = DECIDES

    @extend_schema(request=None, responses={200: shapes.RequestShape})
    def post(self, request: ApiRequest, reference: str) -> Response:
        """Take one's own approval back, as long as nothing was carried out."""
        return _run(reference, lambda: undo.undo(reference=reference, staff=cast(Staff, request.user)))


def _run(reference: str, deed: Callable[[], Request]) -> Response:
    _find(reference)
    try:
        return Response(show(deed()))
    except errors.DecisionError as exc:
        raise _answer(exc) from exc


def _answer(error: errors.DecisionError) -> Exception:
    """An error of the services in the API's one shape."""
    if isinstance(error, errors.NotFound):
        return Http404()
    if isinstance(error, errors.Forbidden):
        return ApiError(403, error.code, error.message)
    if isinstance(error, errors.Invalid):
        return invalid(error.fields)
    if isinstance(error, errors.Expired):
        return ApiError(410, "expired", error.message)
    if isinstance(error, errors.Conflict):
        at = error.decided_at.isoformat() if error.decided_at else None
        return ApiError(409, "conflict", error.message, state=error.state, decided_by=error.decided_by, decided_at=at)
    return ApiError(412, "digest_differs", error.message)
