from django.apps import AppConfig


class AgentsConfig(AppConfig):
    name = "agents"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from agents.notices import tell_of_request
        from approvals.news import request_changed

        request_changed.connect(tell_of_request, dispatch_uid="agents.notices")
