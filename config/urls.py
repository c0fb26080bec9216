"""Every address of the product, except the event stream, which `config.asgi` answers itself."""

from django.urls import include, path
from django.views.generic import TemplateView
from django.views.i18n import set_language
from drf_spectacular.views import SpectacularAPIView

from agents import alone_views, brake_api, brake_views
from agents.planning import plan_write
from config import demo, health
from ledger.urls import protocol
from ledger.webhook import Webhook

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
    path("api/docs/", TemplateView.as_view(template_name="config/api_docs.html"), name="api-docs"),
    path("", demo.home, name="home"),
    path("demo/chat/", demo.full_page, name="demo-chat"),
    path("demo/customer/", demo.choose, name="demo-customer"),
    path("demo/token/", demo.token, name="demo-token"),
    path("console/language/", set_language, name="set_language"),
    path("console/", include("console.urls")),
    path("console/conversations/", include("agents.urls")),
    path("console/turns/", include("agents.turn_urls")),
    path("console/brake/", brake_views.brake, name="brake"),
    path("console/policy/alone/", alone_views.alone, name="policy-alone"),
    path("console/payouts/", include("ledger.payout_urls")),
    path("console/", include("approvals.urls")),
    path("ledger/payments/webhook/", Webhook.as_view(), name="payments-webhook"),
    path("audit/", include("audit.urls")),
    path("api/chat/", include("agents.api_urls")),
    path("api/approvals/", include("approvals.api_urls")),
    path("api/brake/", brake_api.BrakeView.as_view()),
    path("api/audit/", include("audit.api_urls")),
    path("ledger/v1/", include(protocol(plan_write))),
]
