"""The customer's own profile."""

from typing import Any

from agents.tools.registry import NoArguments, Tool
from ledger.access.client import Lookups


def _profile(shop: Lookups, _: NoArguments) -> dict[str, Any]:
    return shop.profile()


TOOLS = (
    Tool(
        name="get_my_profile",
        description="The customer's own name, e-mail, address and payment methods with their ids.",
        arguments=NoArguments,
        read=_profile,
    ),
)
