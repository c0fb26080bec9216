"""Asking a person to take over."""

from typing import Annotated

from pydantic import Field

from agents.models import HandOff
from agents.tools.registry import Acted, Arguments, Caller, Tool
from base.references import new_reference


class HandOffArguments(Arguments):
    summary: Annotated[str, Field(min_length=1, description="What the customer wants and what was tried; for staff.")]


def _hand_off(caller: Caller, args: HandOffArguments) -> Acted:
    """The summary is kept for staff, as the model's own words; the notice is ours, because a model's words promise
    anything. While one waits already, that one is meant."""
    made = HandOff(conversation_id=caller.conversation_id, reference=new_reference("T"), summary=args.summary)
    HandOff.objects.bulk_create([made], ignore_conflicts=True)
    waiting = HandOff.objects.get(conversation_id=caller.conversation_id, ended_at=None)
    return Acted(
        reference=waiting.reference,
        message="A person from our team will read this conversation and answer in it. Tell the customer so.",
        told="A person from our team has been asked to take over, and will answer in this conversation.",
    )


TOOLS = (
    Tool(
        name="hand_off_to_human",
        description=(
            "Ask a person to take over, when the customer asks for one or the tools cannot help. The person reads the "
            "summary and the conversation."
        ),
        arguments=HandOffArguments,
        act=_hand_off,
        asks_for_a_person=True,
    ),
)
