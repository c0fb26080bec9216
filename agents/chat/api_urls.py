from django.urls import path

from agents.chat import api

urlpatterns = [
    path("sign-out/", api.SignOut.as_view()),
    path("conversations/", api.Conversations.as_view()),
    path("conversations/<str:conversation_id>/", api.OneConversation.as_view()),
    path("conversations/<str:conversation_id>/messages/", api.Messages.as_view()),
    path("conversations/<str:conversation_id>/turns/<str:turn_id>/", api.OneTurn.as_view()),
    path("conversations/<str:conversation_id>/requests/<str:reference>/withdraw/", api.Withdraw.as_view()),
]
