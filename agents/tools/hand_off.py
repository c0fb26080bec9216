"""Asking a person to take over."""

from typing import Annotated

from pydantic import Field

from agents.tools.registry import Acted, Arguments, Caller, Tool
from ledger.references import new_reference


class HandOff(Arguments):
    summary: Annotated[str, Field(min_length=1, description="What the customer wants and what was tried; for staff.")]


def _hand_off(_: Caller, args: HandOff) -> Acted:
    """The summary stays in the record, for staff; the notice is ours, because a model's words promise anything."""
    return Acted(
        reference=new_reference("T"),
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
        arguments=HandOff,
        act=_hand_off,
        asks_for_a_person=True,
    ),
)
