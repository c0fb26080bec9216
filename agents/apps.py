from django.apps import AppConfig


class AgentsConfig(AppConfig):
    name = "agents"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from agents.chat.goods_news import tell_of_goods
        from agents.chat.notices import tell_of_request
        from agents.chat.payout_news import tell_of_payout
        from approvals.news import request_changed
        from ledger.news import goods_ended, payout_changed

        request_changed.connect(tell_of_request, dispatch_uid="agents.chat.notices")
        payout_changed.connect(tell_of_payout, dispatch_uid="agents.chat.payout_news")
        goods_ended.connect(tell_of_goods, dispatch_uid="agents.chat.goods_news")
