"""Every address of the staff's pages. `config.asgi` answers console/live/ itself. Names with an underscore are
allauth's."""

from allauth.socialaccount.providers.openid_connect import views as oidc
from django.urls import include, path
from django.views.i18n import set_language

import base.http.converters  # noqa: F401 - of references and digests
from console.pages import brake, payouts, record, work
from console.pages.conversations import conversations, fragments, turns
from console.pages.customers import conflicts, customer, flags, notes
from console.pages.overview import overview
from console.pages.people import account, reviewers, shift, staff
from console.pages.policy import alone, definitions, editing, macros, versions
from console.pages.requests import assignment, preview, queue, request, several, signing, undo
from console.sign_in import pages as sign_in

CONSOLE = [
    path("", queue.queue, name="console"),
    path("pulse/", queue.pulse, name="pulse"),
    path("several/", several.several, name="several"),
    path("requests/<reference:reference>/", request.request_page, name="request"),
    path("requests/<reference:reference>/status/", request.request_status, name="request-status"),
    path("requests/<reference:reference>/reading/", request.reading, name="request-reading"),
    path("requests/<reference:reference>/viewers/", request.viewers, name="request-viewers"),
    path("requests/<reference:reference>/assign/", assignment.assign, name="request-assign"),
    path("requests/<reference:reference>/give/", assignment.give, name="request-give"),
    path("requests/<reference:reference>/reassign/", assignment.reassign, name="request-reassign"),
    path("requests/<reference:reference>/snooze/", assignment.snooze, name="request-snooze"),
    path("requests/<reference:reference>/ask/", assignment.ask, name="request-ask"),
    path("requests/<reference:reference>/told/", preview.told, name="request-told"),
    path("requests/<reference:reference>/challenge/", signing.challenge, name="request-challenge"),
    path("requests/<reference:reference>/undo/", undo.undo_approval, name="request-undo"),
    path("requests/<reference:reference>/mistake/", undo.report_mistake, name="request-mistake"),
    path("requests/<reference:reference>/reopen/", undo.reopen, name="request-reopen"),
    path("tasks/", undo.tasks, name="tasks"),
    path("overview/", overview.page, name="overview"),
    path("overview/spot-check/", overview.spot_check, name="overview-spot-check"),
    path("customers/<key:customer_id>/", customer.customer, name="customer"),
    path("notes/<key:customer_id>/", notes.note, name="note"),
    path("flags/<key:customer_id>/", flags.flag, name="flag"),
    path("clearances/", conflicts.clear, name="clearances"),
    path("conversations/", conversations.conversations, name="conversations"),
    path("conversations/<uuid:conversation_id>/", conversations.conversation, name="conversation"),
    path("conversations/<uuid:conversation_id>/live/", conversations.live, name="conversation-live"),
    path("conversations/<uuid:conversation_id>/desk/", conversations.desk, name="conversation-desk"),
    path("conversations/<uuid:conversation_id>/take/", conversations.take, name="conversation-take"),
    path("conversations/<uuid:conversation_id>/say/", conversations.say, name="conversation-say"),
    path("conversations/<uuid:conversation_id>/hand-back/", conversations.hand_back, name="conversation-hand-back"),
    path("conversations/<uuid:conversation_id>/close/", conversations.close, name="conversation-close"),
    path("conversations/<uuid:conversation_id>/note/", conversations.note, name="conversation-note"),
    path("conversations/<uuid:conversation_id>/transcript/", fragments.transcript, name="conversation-transcript"),
    path("turns/", turns.turns, name="turns"),
    path("turns/<uuid:turn_id>/", turns.turn, name="turn"),
    path("turns/<uuid:turn_id>/steer/", turns.steer, name="turn-steer"),
    path("policy/edit/", editing.edit, name="policy-edit"),
    path("policy/<int:number>/withdraw/", editing.withdraw, name="policy-withdraw"),
    path("policy/<int:number>/simulation/", editing.simulation, name="policy-simulation"),
    path("policy/<int:number>/simulation/step/", editing.simulation_step, name="policy-simulation-step"),
    path("policy/", versions.versions, name="policy"),
    path("policy/alone/", alone.alone, name="policy-alone"),
    path("policy/<int:number>/", versions.version, name="policy-version"),
    path("policy/<int:number>/activate/", versions.activate, name="policy-activate"),
    path("definitions/", definitions.definitions, name="definitions"),
    path("definitions/<digest:digest>/", definitions.definition, name="definition"),
    path("definitions/<digest:digest>/use/", definitions.use, name="definition-use"),
    path("macros/", macros.macro_list, name="macros"),
    path("macros/new/", macros.macro, name="macro-new"),
    path("macros/<int:number>/", macros.macro, name="macro"),
    path("macros/reasons/<slug:code>/", macros.reason, name="reason"),
    path("brake/", brake.brake, name="brake"),
    path("payouts/", payouts.payouts, name="payouts"),
    path("payouts/reconcile/", payouts.compare, name="payouts-reconcile"),
    path("payouts/<int:transfer_id>/", payouts.act, name="payout-act"),
    path("work/", work.work, name="work"),
    path("shift/", shift.shift, name="shift"),
    path("staff/", staff.staff, name="staff"),
    path("staff/<key:name>/", staff.member, name="staff-member"),
    path("roles/", staff.roles, name="roles"),
    path("reviewers/", reviewers.reviewers, name="reviewers"),
    path("account/", account.account, name="mfa_index"),
    path("account/sessions/", account.my_sessions, name="sessions"),
    path("account/password/", account.password, name="account-password"),
    path("account/confirm/", account.confirm, name="account_reauthenticate"),
    path("account/confirm/code/", account.confirm_by_code, name="mfa_reauthenticate"),
    path("account/confirm/passkey/", account.confirm_by_passkey, name="mfa_reauthenticate_webauthn"),
    path("account/app/", account.activate_codes, name="mfa_activate_totp"),
    path("account/app/remove/", account.remove_codes, name="mfa_deactivate_totp"),
    path("account/codes/", account.recovery_codes, name="mfa_view_recovery_codes"),
    path("account/codes/new/", account.new_recovery_codes, name="mfa_generate_recovery_codes"),
    path("account/passkeys/", account.account, name="mfa_list_webauthn"),
    path("account/passkeys/add/", account.add_passkey, name="mfa_add_webauthn"),
    path("account/passkeys/<int:pk>/remove/", account.remove_passkey, name="mfa_remove_webauthn"),
    path("sign-in/", sign_in.sign_in, name="sign-in"),
    path("sign-in/", sign_in.sign_in, name="account_login"),
    path("sign-in/second-step/", sign_in.second_step, name="mfa_authenticate"),
    path("sign-in/passkey/", sign_in.passkey, name="mfa_login_webauthn"),
    path("sign-in/<slug:provider_id>/", oidc.login, name="openid_connect_login"),
    path("sign-in/<slug:provider_id>/callback/", oidc.callback, name="openid_connect_callback"),
    path("sign-out/", sign_in.sign_out, name="sign-out"),
    path("sign-out/", sign_in.sign_out, name="account_logout"),
    path("language/", set_language, name="set_language"),
]
RECORD = [
    path("", record.events, name="audit"),
    path("events/<int:event_id>/", record.event, name="audit-event"),
]

urlpatterns = [path("console/", include(CONSOLE)), path("audit/", include(RECORD))]
