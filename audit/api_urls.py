from django.urls import path

from audit import api

urlpatterns = [path("events/", api.Events.as_view())]
