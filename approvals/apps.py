from django.apps import AppConfig


class ApprovalsConfig(AppConfig):
    name = "approvals"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from approvals.news import request_changed
        from approvals.outbox.telling import tell_colleagues_of
        from approvals.requests.lifecycle import disturbed
        from ledger.news import order_disturbed

        request_changed.connect(tell_colleagues_of, dispatch_uid="approvals.outbox.telling")
        order_disturbed.connect(disturbed, dispatch_uid="approvals.requests.lifecycle")
