"""Pages of the console that belong to no single rule, under /console/. `config.asgi` answers live/ itself. Names with
an underscore are allauth's."""

from allauth.socialaccount.providers.openid_connect import views as oidc
from django.urls import path, register_converter

import approvals.converters  # noqa: F401 - of references
from console import (
    account_views,
    bulk_views,
    claim_views,
    customer_views,
    definition_views,
    macro_views,
    overview_views,
    policy_views,
    preview_views,
    queue_views,
    request_views,
    shift_views,
    sign_in,
    signing,
    staff_views,
    talk_views,
)


class Digest:
    """A SHA-256 in an address."""

    regex = "[0-9a-f]{64}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(Digest, "digest")

urlpatterns = [
    path("", queue_views.queue, name="console"),
    path("pulse/", queue_views.pulse, name="pulse"),
    path("several/", bulk_views.several, name="several"),
    path("shift/", shift_views.shift, name="shift"),
    path("requests/<reference:reference>/", request_views.request_page, name="request"),
    path("requests/<reference:reference>/status/", request_views.request_status, name="request-status"),
    path("requests/<reference:reference>/looked/", request_views.looked, name="request-looked"),
    path("requests/<reference:reference>/looking/", request_views.looking, name="request-looking"),
    path("requests/<reference:reference>/claim/", claim_views.claim, name="request-claim"),
    path("requests/<reference:reference>/give/", claim_views.give, name="request-give"),
    path("requests/<reference:reference>/reassign/", claim_views.reassign, name="request-reassign"),
    path("requests/<reference:reference>/snooze/", claim_views.snooze, name="request-snooze"),
    path("requests/<reference:reference>/ask/", claim_views.ask, name="request-ask"),
    path("requests/<reference:reference>/told/", preview_views.told, name="request-told"),
    path("sign-in/", sign_in.sign_in, name="sign-in"),
    path("sign-in/", sign_in.sign_in, name="account_login"),
    path("sign-in/second-step/", sign_in.second_step, name="mfa_authenticate"),
    path("sign-in/passkey/", sign_in.passkey, name="mfa_login_webauthn"),
    path("sign-in/<slug:provider_id>/", oidc.login, name="openid_connect_login"),
    path("sign-in/<slug:provider_id>/callback/", oidc.callback, name="openid_connect_callback"),
    path("sign-out/", sign_in.sign_out, name="sign-out"),
    path("sign-out/", sign_in.sign_out, name="account_logout"),
    path("account/", account_views.account, name="mfa_index"),
    path("account/sessions/", account_views.my_sessions, name="sessions"),
    path("account/password/", account_views.password, name="account-password"),
    path("account/confirm/", account_views.confirm, name="account_reauthenticate"),
    path("account/confirm/code/", account_views.confirm_by_code, name="mfa_reauthenticate"),
    path("account/confirm/passkey/", account_views.confirm_by_passkey, name="mfa_reauthenticate_webauthn"),
    path("account/app/", account_views.activate_codes, name="mfa_activate_totp"),
    path("account/app/remove/", account_views.remove_codes, name="mfa_deactivate_totp"),
    path("account/codes/", account_views.recovery_codes, name="mfa_view_recovery_codes"),
    path("account/codes/new/", account_views.new_recovery_codes, name="mfa_generate_recovery_codes"),
    path("account/passkeys/", account_views.account, name="mfa_list_webauthn"),
    path("account/passkeys/add/", account_views.add_passkey, name="mfa_add_webauthn"),
    path("account/passkeys/<int:pk>/remove/", account_views.remove_passkey, name="mfa_remove_webauthn"),
    path("roles/", staff_views.roles, name="roles"),
    path("staff/", staff_views.staff, name="staff"),
    path("staff/<str:name>/", staff_views.member, name="staff-member"),
    path("requests/<reference:reference>/challenge/", signing.challenge, name="request-challenge"),
    path("definitions/", definition_views.definitions, name="definitions"),
    path("definitions/<digest:digest>/", definition_views.definition, name="definition"),
    path("definitions/<digest:digest>/use/", definition_views.use, name="definition-use"),
    path("policy/edit/", policy_views.edit, name="policy-edit"),
    path("policy/<int:number>/withdraw/", policy_views.withdraw, name="policy-withdraw"),
    path("policy/<int:number>/simulation/", policy_views.simulation, name="policy-simulation"),
    path("policy/<int:number>/simulation/step/", policy_views.simulation_step, name="policy-simulation-step"),
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
