"""The tables of this app, by topic. Everybody imports them from here."""

from approvals.models.brake import Brake
from approvals.models.conflicts import Clearance
from approvals.models.evidence import CardView
from approvals.models.macros import MOST_TEXT, MacroEdit, ReasonEdit
from approvals.models.notes import Note
from approvals.models.outbox import Delivery
from approvals.models.people import Participant, Staff
from approvals.models.policy import Flag, PolicyVersion
from approvals.models.requests import CLOSED_STATES, DECOY_STATES, OPEN_STATES, Decision, Request
from approvals.models.shifts import Absence, Question, Snooze
from approvals.models.signatures import Signature
from approvals.models.spot_checks import SpotCheck
from approvals.models.tasks import Task, Withdrawal

__all__ = [
    "CLOSED_STATES",
    "DECOY_STATES",
    "MOST_TEXT",
    "OPEN_STATES",
    "Absence",
    "Brake",
    "CardView",
    "Clearance",
    "Decision",
    "Delivery",
    "Flag",
    "MacroEdit",
    "Note",
    "Participant",
    "PolicyVersion",
    "Question",
    "ReasonEdit",
    "Request",
    "Signature",
    "Snooze",
    "SpotCheck",
    "Staff",
    "Task",
    "Withdrawal",
]
