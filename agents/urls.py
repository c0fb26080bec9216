"""Fragments about conversations, under /console/conversations/."""

from django.urls import path

from agents import views

urlpatterns = [path("<uuid:conversation_id>/transcript/", views.transcript, name="conversation-transcript")]
