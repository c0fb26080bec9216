"""Pages about conversations, under /console/conversations/."""

from django.urls import path

from agents import views

urlpatterns = [
    path("", views.conversations, name="conversations"),
    path("<uuid:conversation_id>/", views.conversation, name="conversation"),
    path("<uuid:conversation_id>/transcript/", views.transcript, name="conversation-transcript"),
]
