from django.apps import AppConfig


class AgentsConfig(AppConfig):
    name = "agents"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from agents.goods import tell_of_goods
        from agents.notices import tell_of_request
        from agents.payout_news import tell_of_payout
        from approvals.news import request_changed
        from ledger.news import goods_ended, payout_changed

        request_changed.connect(tell_of_request, dispatch_uid="agents.notices")
        payout_changed.connect(tell_of_payout, dispatch_uid="agents.payout_news")
        goods_ended.connect(tell_of_goods, dispatch_uid="agents.notices.goods")
