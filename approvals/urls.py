"""Pages of the console, under /console/."""

from django.urls import path, register_converter

from approvals import customers, kinship_views, note_views, policy_views, reviewers, undo_views, views


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
    path("requests/<reference:reference>/", views.request_page, name="request"),
    path("requests/<reference:reference>/status/", views.request_status, name="request-status"),
    path("requests/<reference:reference>/claim/", views.claim, name="request-claim"),
    path("requests/<reference:reference>/undo/", undo_views.undo_approval, name="request-undo"),
    path("requests/<reference:reference>/mistake/", undo_views.report_mistake, name="request-mistake"),
    path("requests/<reference:reference>/looked/", views.looked, name="request-looked"),
    path("approve/", views.approve_several, name="approve-several"),
    path("reviewers/", reviewers.reviewers, name="reviewers"),
    path("requests/<reference:reference>/reassign/", views.reassign, name="request-reassign"),
    path("notes/<path:customer_id>/", note_views.note, name="note"),
    path("clearances/", kinship_views.clear, name="clearances"),
    path("tasks/", undo_views.tasks, name="tasks"),
    path("policy/", policy_views.versions, name="policy"),
    path("policy/<int:number>/", policy_views.version, name="policy-version"),
    path("policy/<int:number>/activate/", policy_views.activate, name="policy-activate"),
    path("flags/<path:customer_id>/", customers.flag, name="flag"),
]
