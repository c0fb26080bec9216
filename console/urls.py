"""Pages of the console that belong to no single rule, under /console/."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
