from django.urls import URLPattern, path

from ledger.protocol import api
from ledger.protocol.writes import Planner


def protocol(planner: Planner) -> list[URLPattern]:
    """The addresses under `/ledger/v1/`; `planner` says what a tool with its arguments would do."""
    return [
        path("profile/", api.Profile.as_view()),
        path("orders/", api.Orders.as_view()),
        path("order/", api.OneOrder.as_view()),
        path("products/", api.Products.as_view()),
        path("product/", api.OneProduct.as_view()),
        path("plans/", api.Plans.as_view(planner=planner)),
        path("entries/", api.Entries.as_view(planner=planner)),
        path("holds/", api.Holds.as_view(planner=planner)),
        path("holds/void/", api.VoidHolds.as_view()),
    ]
