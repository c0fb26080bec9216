"""Pages of the record, under /audit/."""

from django.urls import path

from audit import views

urlpatterns = [
    path("", views.events, name="audit"),
    path("events/<int:event_id>/", views.event, name="audit-event"),
]
