from django.urls import path

from approvals import api

urlpatterns = [
    path("", api.Requests.as_view()),
    path("bulk/", api.Bulk.as_view()),
    path("<str:reference>/", api.OneRequest.as_view()),
    path("<str:reference>/decide/", api.Decide.as_view()),
    path("<str:reference>/claim/", api.Claim.as_view()),
    path("<str:reference>/undo/", api.Undo.as_view()),
    path("<str:reference>/release/", api.Release.as_view()),
]
