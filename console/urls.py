"""Pages of the console that belong to no single rule, under /console/."""

from django.urls import path, register_converter

from console import customer_views, definition_views, macro_views, overview_views, talk_views


class Digest:
    """A SHA-256 in an address."""

    regex = "[0-9a-f]{64}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(Digest, "digest")

urlpatterns = [
    path("definitions/", definition_views.definitions, name="definitions"),
    path("definitions/<digest:digest>/", definition_views.definition, name="definition"),
    path("definitions/<digest:digest>/use/", definition_views.use, name="definition-use"),
    path("macros/", macro_views.macro_list, name="macros"),
    path("macros/new/", macro_views.macro, name="macro-new"),
    path("macros/<int:number>/", macro_views.macro, name="macro"),
    path("macros/reasons/<slug:code>/", macro_views.reason, name="reason"),
    path("overview/", overview_views.page, name="overview"),
    path("overview/look/", overview_views.look, name="overview-look"),
    path("customers/<path:customer_id>/", customer_views.customer, name="customer"),
    path("conversations/", talk_views.conversations, name="conversations"),
    path("conversations/<uuid:conversation_id>/", talk_views.conversation, name="conversation"),
    path("conversations/<uuid:conversation_id>/live/", talk_views.live, name="conversation-live"),
    path("conversations/<uuid:conversation_id>/desk/", talk_views.desk, name="conversation-desk"),
    path("conversations/<uuid:conversation_id>/take/", talk_views.take, name="conversation-take"),
    path("conversations/<uuid:conversation_id>/say/", talk_views.say, name="conversation-say"),
    path("conversations/<uuid:conversation_id>/hand-back/", talk_views.hand_back, name="conversation-hand-back"),
    path("conversations/<uuid:conversation_id>/close/", talk_views.close, name="conversation-close"),
    path("conversations/<uuid:conversation_id>/note/", talk_views.note, name="conversation-note"),
]
