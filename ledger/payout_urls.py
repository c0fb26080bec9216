"""Pages about payouts, under /console/payouts/."""

from django.urls import path

from ledger import payout_views

urlpatterns = [
    path("", payout_views.payouts, name="payouts"),
    path("reconcile/", payout_views.compare, name="payouts-reconcile"),
    path("<int:transfer_id>/", payout_views.act, name="payout-act"),
]
