"""The chat API: what a customer's widget calls, with a bearer token that names the customer."""

import datetime as dt
import uuid
from collections.abc import Mapping
from typing import Any, cast

from django.http import Http404
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request as ApiRequest
from rest_framework.response import Response
from rest_framework.views import APIView

from agents.chat import api_shapes as shapes
from agents.chat import conversations
from agents.chat.stream import last_event_id
from agents.chat.takeover import name_of
from agents.chat.tokens import TokenRefused, WidgetClaims, verify_widget_token
from agents.chat.transcript import show_message, visible
from agents.models import Conversation, Turn
from agents.states import STATES
from agents.turns.steering import sign_out
from approvals.errors import Conflict, NotFound
from approvals.models import Request
from approvals.requests import lifecycle
from base import keyset
from base.http.api import ApiView
from base.http.errors import ApiError, invalid
from base.http.paging import next_url
from base.keyset import BadCursor, Keyset

PAGE, MOST_MESSAGES = 50, 200
_NEWEST = Keyset({"created_at": dt.datetime, "id": uuid.UUID}, downwards=True)


class WidgetAuthentication(BaseAuthentication):
    """The customer of a valid widget token. Headers of proxies and arguments name nobody."""

    def authenticate(self, request: ApiRequest) -> tuple[WidgetClaims, str] | None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        try:
            return verify_widget_token(token), token
        except TokenRefused as exc:
            raise exceptions.AuthenticationFailed from exc

    def authenticate_header(self, request: ApiRequest) -> str:
        return 'Bearer realm="placet chat"'


class WidgetScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = WidgetAuthentication
    name = "widgetToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}


class IsCustomer(BasePermission):
    def has_permission(self, request: ApiRequest, view: APIView) -> bool:
        return isinstance(request.user, WidgetClaims)


class ChatView(ApiView):
    """Every chat view: one authentication, and somebody else's conversation is not found."""

    authentication_classes = [WidgetAuthentication]
    permission_classes = [IsCustomer]

    def claims(self) -> WidgetClaims:
        return cast(WidgetClaims, self.request.user)

    def conversation(self, conversation_id: str) -> Conversation:
        return find_conversation(self.claims().customer_id, conversation_id)


def find_conversation(customer_id: str, conversation_id: str) -> Conversation:
    """An own conversation; Http404 for a foreign one, an unknown one, and what is no id at all."""
    try:
        found = Conversation.objects.filter(pk=uuid.UUID(conversation_id), customer_id=customer_id).first()
    except ValueError:
        found = None
    if found is None:
        raise Http404
    return found


class Conversations(ChatView):
    @extend_schema(responses={200: shapes.ConversationPage}, parameters=[OpenApiParameter("cursor", str)])
    def get(self, request: ApiRequest) -> Response:
        """One's own conversations, newest first."""
        own = Conversation.objects.filter(customer_id=self.claims().customer_id)
        try:
            part = _NEWEST.page(own, request.query_params.get("cursor"), PAGE)
        except BadCursor as exc:
            raise Http404 from exc
        results = [
            {"id": str(row.pk), "state": row.state, "created_at": row.created_at.isoformat()} for row in part.rows
        ]
        return Response({"results": results, "next": next_url(request, part.cursor or None)})

    @extend_schema(request=None, responses={201: shapes.ConversationShape})
    def post(self, request: ApiRequest) -> Response:
        """Begin a conversation."""
        _ = request.data  # nothing in it counts, but a body that cannot be read is told
        claims = self.claims()
        begun = conversations.begin(customer_id=claims.customer_id, session_id=claims.session_id)
        return Response({"id": str(begun.pk), "state": begun.state, "messages": []}, status=201)


class OneConversation(ChatView):
    @extend_schema(responses={200: shapes.ConversationShape}, parameters=[OpenApiParameter("before", int)])
    def get(self, request: ApiRequest, conversation_id: str) -> Response:
        """The newest 200 messages and the requests; older messages by `before`."""
        conversation = self.conversation(conversation_id)
        newest = last_event_id(conversation.pk)  # before the rows are read, so that nothing is missed
        messages = visible(conversation.pk)
        if before := request.query_params.get("before"):
            messages = messages.filter(pk__lt=_message_id(before))
        rows = list(messages.reverse()[:MOST_MESSAGES])[::-1]
        waiting = Request.objects.filter(conversation_id=conversation.pk).order_by("created_at")
        return Response(
            {
                "id": str(conversation.pk),
                "state": conversation.state,
                **({"staff": name_of(conversation.holder)} if conversation.holder else {}),
                "messages": [show_message(row) for row in rows],
                "requests": [show_request(row) for row in waiting],
                "last_event_id": newest,
            }
        )


def _message_id(text: str) -> int:
    try:
        return keyset.number(text)
    except BadCursor as exc:
        raise invalid({"before": ["Must be the id of a message."]}) from exc


def show_request(request: Request) -> dict[str, str]:
    """A request as its customer may see it: no rule, no reason, nobody's name."""
    return {
        "reference": request.reference,
        "summary": str(request.preview["summary"]),
        "state": STATES[request.state],
    }


class Messages(ChatView):
    @extend_schema(request=shapes.NewMessage, responses={200: shapes.PostedShape, 202: shapes.PostedShape})
    def post(self, request: ApiRequest, conversation_id: str) -> Response:
        """Write a message. The same `client_id` again answers the same, so resending is safe."""
        conversation = self.conversation(conversation_id)
        body = shapes.NewMessage(data=request.data)
        body.is_valid(raise_exception=True)
        try:
            claims = self.claims()
            posted = conversations.post_message(
                conversation_id=conversation.pk,
                session_id=claims.session_id,
                auth_time=claims.auth_time,
                amr=claims.amr,
                **body.validated_data,
            )
        except conversations.OtherText as exc:
            raise ApiError(409, "client_id_used", "This client_id belongs to another text; use a new one.") from exc
        except conversations.ConversationClosed as exc:
            raise ApiError(409, "closed", "This conversation is closed; begin a new one.") from exc
        answer = {"message_id": str(posted.message_id), "turn_id": str(posted.turn_id)}
        return Response(answer, status=202 if posted.new else 200)


class OneTurn(ChatView):
    @extend_schema(responses={200: shapes.TurnShape})
    def get(self, request: ApiRequest, conversation_id: str, turn_id: str) -> Response:
        """How far a turn is, and why it ended."""
        conversation = self.conversation(conversation_id)
        try:
            turn = Turn.objects.filter(pk=uuid.UUID(turn_id), conversation=conversation).first()
        except ValueError:
            turn = None
        if turn is None:
            raise Http404
        shown: Mapping[str, Any] = {
            "state": turn.state,
            "reason": turn.reason or None,
            "steps": turn.steps,
            "input_tokens": turn.input_tokens,
            "output_tokens": turn.output_tokens,
        }
        return Response(shown)


class SignOut(ChatView):
    @extend_schema(request=None, responses={204: None})
    def post(self, request: ApiRequest) -> Response:
        """End this token's session: what runs stops before its next step, and the token opens nothing any more."""
        claims = self.claims()
        sign_out(customer_id=claims.customer_id, session_id=claims.session_id)
        return Response(status=204)


class Withdraw(ChatView):
    @extend_schema(request=None, responses={200: shapes.RequestShape})
    def post(self, request: ApiRequest, conversation_id: str, reference: str) -> Response:
        """Take an own request back while it waits."""
        conversation = self.conversation(conversation_id)
        if not Request.objects.filter(pk=reference, conversation_id=conversation.pk).exists():
            raise Http404
        try:
            ended = lifecycle.withdraw(reference=reference, customer_id=self.claims().customer_id)
        except NotFound as exc:
            raise Http404 from exc
        except Conflict as exc:
            state = STATES[exc.state]
            raise ApiError(409, "conflict", f"It can no longer be withdrawn: it is {state}.", state=state) from exc
        return Response(show_request(ended))
