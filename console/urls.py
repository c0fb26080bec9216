"""Pages of the console that belong to no single rule, under /console/. `config.asgi` answers live/ itself."""

from importlib import import_module

from django.urls import path

from console import bulk_views, claim_views, preview_views, queue_views, request_views, shift_views

import_module("approvals.converters")

urlpatterns = [
    path("", queue_views.queue, name="console"),
    path("pulse/", queue_views.pulse, name="pulse"),
    path("several/", bulk_views.several, name="several"),
    path("shift/", shift_views.shift, name="shift"),
    path("requests/<reference:reference>/", request_views.request_page, name="request"),
    path("requests/<reference:reference>/status/", request_views.request_status, name="request-status"),
    path("requests/<reference:reference>/looked/", request_views.looked, name="request-looked"),
    path("requests/<reference:reference>/looking/", request_views.looking, name="request-looking"),
    path("requests/<reference:reference>/claim/", claim_views.claim, name="request-claim"),
    path("requests/<reference:reference>/give/", claim_views.give, name="request-give"),
    path("requests/<reference:reference>/reassign/", claim_views.reassign, name="request-reassign"),
    path("requests/<reference:reference>/snooze/", claim_views.snooze, name="request-snooze"),
    path("requests/<reference:reference>/ask/", claim_views.ask, name="request-ask"),
    path("requests/<reference:reference>/told/", preview_views.told, name="request-told"),
]
