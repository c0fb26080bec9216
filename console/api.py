"""The staff API of the brake."""

from typing import Any, cast

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request as ApiRequest
from rest_framework.response import Response

from approvals import brakes
from approvals.errors import Invalid
from approvals.models import Brake, Staff
from base.http.errors import ApiError, invalid
from base.http.staff_api import StaffView
from console.api_shapes import BrakeList, BrakeMove


class BrakeView(StaffView):
    @extend_schema(responses={200: BrakeList})
    def get(self, request: ApiRequest) -> Response:
        """What is stopped at this moment."""
        return Response({"on": [_show(brake) for brake in brakes.standing()]})

    @extend_schema(request=BrakeMove, responses={200: BrakeList})
    def post(self, request: ApiRequest) -> Response:
        """Stop `tool`, or all writes, or with `answers` everything. `off` proposes; another person's `off` lets go."""
        staff = cast(Staff, request.user)
        if staff.role not in brakes.BRAKES:
            raise ApiError(403, "role", "Only leads and administrators move the brake.")
        move = BrakeMove(data=request.data)
        move.is_valid(raise_exception=True)
        wanted = dict(move.validated_data)
        deed = brakes.pull if wanted.pop("state") == "on" else brakes.release
        try:
            deed(staff=staff, **wanted)
        except Invalid as error:
            raise invalid(error.fields) from error
        except brakes.BrakeRefused as refusal:
            raise ApiError(_STATUS.get(refusal.code, 409), refusal.code, refusal.message) from refusal
        return self.get(request)


_STATUS = {"role": 403, "same_person": 403}


def _show(brake: Brake) -> dict[str, Any]:
    return {
        "target": brake.target,
        "tool": brake.tool,
        "reason": brake.reason,
        "pulled_by": brake.pulled_by.username,
        "pulled_at": brake.pulled_at,
        "release_proposed_by": brake.proposed_by and brake.proposed_by.username,
        "release_proposed_at": brake.proposed_at,
    }
