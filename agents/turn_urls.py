"""Pages about turns, under /console/turns/."""

from django.urls import path

from agents import turn_views

urlpatterns = [
    path("", turn_views.turns, name="turns"),
    path("<uuid:turn_id>/", turn_views.turn, name="turn"),
    path("<uuid:turn_id>/steer/", turn_views.steer, name="turn-steer"),
]
