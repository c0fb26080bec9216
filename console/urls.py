"""Pages of the console that belong to no single rule, under /console/."""

from django.urls import path

from console import macro_views

urlpatterns = [
    path("macros/", macro_views.macro_list, name="macros"),
    path("macros/new/", macro_views.macro, name="macro-new"),
    path("macros/<int:number>/", macro_views.macro, name="macro"),
    path("macros/reasons/<slug:code>/", macro_views.reason, name="reason"),
]
