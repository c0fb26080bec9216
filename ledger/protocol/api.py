"""`/ledger/v1/`: the scoped client over HTTP. The bearer credential says whose shop is seen and what may be done.

No argument names a customer. Ids travel in queries and bodies, never in paths: they come from a model, and one
like `../` must not reach another address.
"""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any, TypeVar

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from base.http.api import ApiView
from base.http.errors import ApiError, invalid
from base.http.parsing import StrictSerializer
from ledger.access.client import ScopedClient, Shop
from ledger.books.entries import SameKeyOtherPlan
from ledger.books.plans import Plan
from ledger.errors import CredentialRefused, Refused
from ledger.models import Customer
from ledger.protocol import api_shapes as shapes
from ledger.protocol import writes
from ledger.protocol.authentication import CredentialAuthentication, HasCredential
from ledger.protocol.writes import Approved, Changed, Found, Planner, Preview, Shown

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
MOST_TEXT = 1_000


class LedgerView(ApiView):
    """Every view: one authentication, and the shop in one transaction under the credential's customer."""

    authentication_classes = [CredentialAuthentication]
    permission_classes = [HasCredential]
    takes: tuple[str, ...] = ()
    """The names that its query may have."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if unknown := set(request.query_params) - set(self.takes):
            known = ", ".join(self.takes) or "none"
            raise invalid({name: [f"Not known here. Known: {known}."] for name in sorted(unknown)})

    def ask(self, work: Callable[[Shop], T]) -> T:
        try:
            return ScopedClient(str(self.request.auth)).run(work)
        except CredentialRefused as exc:
            raise ApiError(403, "credential", str(exc)) from exc
        except Refused as exc:
            raise ApiError(409, "refused", exc.message, rule=exc.rule, facts=exc.facts) from exc
        except SameKeyOtherPlan as exc:
            message = "This key belongs to another write; nothing was changed. Use a key of its own."
            raise ApiError(409, "key_used", message) from exc
        except Changed as exc:
            message = "What would happen now is not what was shown; nothing was changed. Decide on the new preview."
            raise ApiError(412, "changed", message, preview=_preview(exc.preview)) from exc
        except Customer.DoesNotExist as exc:
            raise Http404 from exc

    def text(self, name: str) -> str | None:
        """A query's value, as a column can hold it."""
        value = self.request.query_params.get(name)
        if value is not None and ("\x00" in value or len(value) > MOST_TEXT):
            raise invalid({name: [f"Must be at most {MOST_TEXT:,} characters, without NUL."]})
        return value

    def needed(self, name: str) -> str:
        if not (value := self.text(name)):
            raise invalid({name: ["Is needed."]})
        return value

    def read(self, shape: type[StrictSerializer]) -> dict[str, Any]:
        body = shape(data=self.request.data)
        body.is_valid(raise_exception=True)
        return dict(body.validated_data)


_PROBLEMS = dict.fromkeys((400, 401, 403, 404, 409, 412, 413, 415, 422, 503), shapes.ProblemShape)


def _documented(shape: Any, *parameters: str, needed: bool = False, **more: Any) -> Callable[[F], F]:
    text = {"type": "string", "minLength": int(needed), "maxLength": MOST_TEXT, "pattern": r"^[^\x00]*$"}
    named = [OpenApiParameter(name, text, required=needed) for name in parameters]
    return extend_schema(responses={200: shape, **_PROBLEMS}, parameters=named, **more)


class Profile(LedgerView):
    @_documented(shapes.ProfileShape)
    def get(self, request: Request) -> Response:
        """The customer's own profile with payment methods."""
        return Response(self.ask(lambda shop: {"profile": shop.profile(), "untrusted": shop.untrusted}))


class Orders(LedgerView):
    takes = ("status", "cursor")

    @_documented(shapes.PageShape, "status", "cursor")
    def get(self, request: Request) -> Response:
        """The customer's orders, newest first, a page at a time."""
        status, cursor = self.text("status"), self.text("cursor")
        return Response(self.ask(lambda shop: shop.orders(status, cursor)))


class OneOrder(LedgerView):
    takes = ("order_id",)

    @_documented(shapes.OrderShape, "order_id", needed=True)
    def get(self, request: Request) -> Response:
        """An own order with its money; somebody else's is refused exactly as one that does not exist."""
        order_id = self.needed("order_id")
        return Response(asdict(self.ask(lambda shop: shop.order(order_id))))


class OneProduct(LedgerView):
    takes = ("product_id",)

    @_documented({"type": "object"}, "product_id", needed=True)
    def get(self, request: Request) -> Response:
        """A product with its variants."""
        product_id = self.needed("product_id")
        return Response(self.ask(lambda shop: shop.product(product_id)))


class Products(LedgerView):
    takes = ("query", "cursor")

    @_documented(shapes.PageShape, "query", "cursor")
    def get(self, request: Request) -> Response:
        """Products by name, a page at a time."""
        query, cursor = self.text("query"), self.text("cursor")
        return Response(self.ask(lambda shop: shop.products(query, cursor)))


class PlanningView(LedgerView):
    """A view that plans. `planner` comes from the composition root, as tools lie above this app."""

    planner: Planner | None = None

    def planned(self, shop: Shop, asked: dict[str, Any]) -> Callable[[], Plan]:
        assert self.planner is not None
        return partial(self.planner, shop, asked["tool"], asked["arguments"])


class Plans(PlanningView):
    @_documented(shapes.PreviewShape, request=shapes.Asked)
    def post(self, request: Request) -> Response:
        """What a write would do, without doing it."""
        asked = self.read(shapes.Asked)
        return Response(_preview(self.ask(lambda shop: writes.preview(shop, self.planned(shop, asked)))))


class Entries(PlanningView):
    takes = ("key",)

    @_documented(shapes.FoundShape, "key", needed=True)
    def get(self, request: Request) -> Response:
        """What a key posted; 404 where it posted nothing for this customer."""
        key = self.needed("key")
        if (found := self.ask(lambda shop: writes.find(key))) is None:
            raise Http404
        return Response(asdict(found))

    @_documented(shapes.FoundShape, request=shapes.NewEntry)
    def post(self, request: Request) -> Response:
        """Carry out what was shown, once per key."""
        asked = self.read(shapes.NewEntry)
        approved = _approved(asked)

        def post(shop: Shop) -> Found:
            return writes.post_shown(
                shop, self.planned(shop, asked), _shown(asked), key=asked["key"], approved=approved
            )

        return Response(asdict(self.ask(post)))


class Holds(PlanningView):
    @_documented(shapes.Holds, request=shapes.NewHold)
    def post(self, request: Request) -> Response:
        """Reserve what a waiting request will need, once per request."""
        asked = self.read(shapes.NewHold)

        def reserve(shop: Shop) -> int:
            return writes.reserve_shown(shop, self.planned(shop, asked), _shown(asked), owner=asked["owner"])

        return Response({"holds": self.ask(reserve)})


class VoidHolds(LedgerView):
    @_documented(shapes.Holds, request=shapes.EndedHold)
    def post(self, request: Request) -> Response:
        """Give back what a request reserved that ended without an effect."""
        asked = self.read(shapes.EndedHold)
        return Response({"holds": self.ask(lambda shop: writes.void(shop, owner=asked["owner"]))})


def _approved(asked: dict[str, Any]) -> Approved | None:
    if "request_reference" not in asked and "owner" not in asked:
        return None
    reference, owner = asked.get("request_reference", ""), asked.get("owner", "")
    if not reference or owner.partition(".")[0] != reference or not asked["key"].startswith(f"{reference}:"):
        raise ApiError(409, "not_one_request", "The reference, the owner and the key must be of one approved request.")
    return Approved(reference=reference, owner=owner)


def _shown(asked: dict[str, Any]) -> Shown:
    return Shown(digest=asked["digest"], basis=asked.get("basis", ""))


def _preview(preview: Preview) -> dict[str, Any]:
    return {"plan": preview.plan.to_json(), "moved": asdict(preview.moved), **asdict(preview.shown)}
