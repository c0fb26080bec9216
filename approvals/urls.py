"""Pages of the console, under /console/."""

from django.contrib.auth.views import LogoutView
from django.urls import path, register_converter

from approvals import customers, views
from approvals.sign_in import SignIn


class Reference:
    """A request's reference in an address; anything else is no page."""

    regex = "R-[0-9A-HJKMNP-TV-Z]{6,10}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(Reference, "reference")

urlpatterns = [
    path("", views.queue, name="console"),
    path("sign-in/", SignIn.as_view(), name="sign-in"),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
    path("requests/<reference:reference>/", views.request_page, name="request"),
    path("requests/<reference:reference>/status/", views.request_status, name="request-status"),
    path("requests/<reference:reference>/claim/", views.claim, name="request-claim"),
    path("customers/<path:customer_id>/", customers.customer, name="customer"),
]
