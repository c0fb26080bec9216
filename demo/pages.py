"""The shop that `make run` shows: a front page with the chat for one of its demo customers."""

import datetime as dt
import secrets
from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from agents.chat.tokens import mint_widget_token
from base.money import show
from demo.seed import DEMO_CUSTOMERS
from ledger.access.staff import as_staff
from ledger.models import Customer, Order, Product

TOKEN_SECONDS = 15 * 60
SMALL_MINOR = 1_200
MOST_ORDERS, MOST_PRODUCTS = 6, 12
# A picture for a product whose name has the word.
PICTURES = (
    "armchair", "candle", "cushion", "dinner", "doormat", "kettle", "lamp", "mug", "tablecloth", "throw",
)  # fmt: skip


class CustomerForm(forms.Form):
    """Whom a visitor wants to be."""

    customer = forms.ChoiceField(choices=lambda: [(name, name) for name in DEMO_CUSTOMERS])


View = Callable[[HttpRequest], HttpResponseBase]


def demo_only(view: View) -> View:
    """The demo lets anybody be any demo customer, so nothing of it exists elsewhere."""

    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponseBase:
        if not settings.PLACET.demo:
            raise Http404
        return view(request)

    return guarded


@never_cache
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The demo shop; a plain page that says what runs here where there is no demo."""
    if not settings.PLACET.demo:
        return render(request, "pages/demo/landing.html")
    return _shop(request, "pages/demo/shop.html")


@demo_only
@never_cache
@require_safe
def full_page(request: HttpRequest) -> HttpResponse:
    """The same chat, filling a page."""
    return _shop(request, "pages/demo/shop_chat.html")


@demo_only
@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Be another demo customer, in a session of their own."""
    form = CustomerForm(request.POST)
    if not form.is_valid():
        raise Http404
    request.session["demo"] = {"customer": form.cleaned_data["customer"], "sid": secrets.token_urlsafe(12)}
    return redirect("home")


@demo_only
@require_POST
def token(request: HttpRequest) -> HttpResponse:
    """A chat token for the customer of this browser's session; never for one that the request names."""
    who = _who(request)
    made = mint_widget_token(who["customer"], who["sid"], TOKEN_SECONDS)
    expires_at = timezone.now() + dt.timedelta(seconds=TOKEN_SECONDS)
    return JsonResponse({"token": made, "expires_at": expires_at.isoformat()})


def _who(request: HttpRequest) -> dict[str, str]:
    who: dict[str, str] | None = request.session.get("demo")
    if who is None or who["customer"] not in DEMO_CUSTOMERS:
        who = request.session["demo"] = {"customer": DEMO_CUSTOMERS[0], "sid": secrets.token_urlsafe(12)}
    return who


def _shop(request: HttpRequest, template: str) -> HttpResponse:
    chosen = _who(request)["customer"]
    people, orders = as_staff(lambda: _rows(chosen))
    context = {
        "people": [people[key] for key in DEMO_CUSTOMERS if key in people],
        "chosen": people.get(chosen),
        "orders": orders,
        "suggestions": "|".join(_suggestions(orders)),
        "products": [_product(product) for product in Product.objects.order_by("product_id")[:MOST_PRODUCTS]],
    }
    return render(request, template, context)


def _rows(chosen: str) -> tuple[dict[str, Customer], list[dict[str, Any]]]:
    people = Customer.objects.in_bulk(DEMO_CUSTOMERS)
    orders = Order.objects.filter(customer_id=chosen).order_by("-placed_at", "-order_id")[:MOST_ORDERS]
    return people, [
        {
            "order": order,
            "total_minor": sum(item["price_minor"] for item in order.items),
            "pictures": [_picture(item["name"]) for item in order.items[:3]],
        }
        for order in orders
    ]


def _suggestions(orders: list[dict[str, Any]]) -> list[str]:
    """Three things to ask: a question, a refund that goes through, and one that waits for a person."""
    if not orders:
        return ["Where is my order?", "How do refunds work?", "I would like to talk to a person"]
    delivered = [row for row in orders if row["order"].status == "delivered"] or orders
    small, whole = delivered[0]["order"], delivered[:2][-1]
    currency, total_minor = whole["order"].currency, whole["total_minor"]
    return [
        f"Where is my order {orders[0]['order'].order_id}?",
        f"I want {show(SMALL_MINOR, small.currency)} back for order {small.order_id}, it came damaged",
        f"Refund me the whole {show(total_minor, currency)} for order {whole['order'].order_id}, it came damaged",
    ]


def _product(product: Product) -> dict[str, Any]:
    prices = [item["price_minor"] for item in product.items]
    return {"product": product, "price_minor": min(prices, default=None), "picture": _picture(product.name)}


def _picture(name: str) -> str:
    word = next((word for word in PICTURES if word in name.lower()), "parcel")
    return f"demo/shop/{word}.svg"
