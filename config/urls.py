"""Every address of the product, except the event stream, which `config.asgi` answers itself."""

from django.urls import include, path
from django.views.generic import TemplateView
from drf_spectacular.views import SpectacularAPIView

from agents.dispatch.planning import plan_write
from config import health
from console.api import BrakeView
from demo import pages
from ledger.payouts.webhook import Webhook
from ledger.protocol.api_urls import protocol

handler400 = "config.views.bad_request"
handler403 = "config.views.permission_denied"
handler404 = "config.views.not_found"
handler500 = "config.views.server_error"

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path(
        "api/schema/",
        SpectacularAPIView.as_view(authentication_classes=[], permission_classes=[]),
        name="schema",
    ),
    path("api/docs/", TemplateView.as_view(template_name="pages/api_docs.html"), name="api-docs"),
    path("", pages.home, name="home"),
    path("demo/chat/", pages.full_page, name="demo-chat"),
    path("demo/customer/", pages.choose, name="demo-customer"),
    path("demo/token/", pages.token, name="demo-token"),
    path("", include("console.urls")),
    path("ledger/payments/webhook/", Webhook.as_view(), name="payments-webhook"),
    path("api/chat/", include("agents.chat.api_urls")),
    path("api/approvals/", include("approvals.api_urls")),
    path("api/brake/", BrakeView.as_view()),
    path("api/audit/", include("audit.api_urls")),
    path("ledger/v1/", include(protocol(plan_write))),
]
