"""Pages of the console, under /console/."""

from importlib import import_module

from django.urls import path

from approvals import customers, kinship_views, note_views, policy_views, reviewers, undo_views

import_module("approvals.converters")

urlpatterns = [
    path("requests/<reference:reference>/undo/", undo_views.undo_approval, name="request-undo"),
    path("requests/<reference:reference>/mistake/", undo_views.report_mistake, name="request-mistake"),
    path("reviewers/", reviewers.reviewers, name="reviewers"),
    path("notes/<path:customer_id>/", note_views.note, name="note"),
    path("clearances/", kinship_views.clear, name="clearances"),
    path("tasks/", undo_views.tasks, name="tasks"),
    path("policy/", policy_views.versions, name="policy"),
    path("policy/<int:number>/", policy_views.version, name="policy-version"),
    path("policy/<int:number>/activate/", policy_views.activate, name="policy-activate"),
    path("flags/<path:customer_id>/", customers.flag, name="flag"),
]
