"""The digest that an approval binds: SHA-256 over the action and its preview, in canonical form."""

from typing import Any

from audit.record import hash_of


def digest_of(
    *, reference: str, revision: int, tool: str, arguments: dict[str, Any], preview: dict[str, Any],
    customer_id: str, policy_version: int,
) -> str:  # fmt: skip
    """Hex SHA-256. The preview holds this order's amounts, destinations and status, so drift changes it."""
    action = {
        "reference": reference,
        "revision": revision,
        "tool": tool,
        "schema": 1,
        "arguments": arguments,
        "subject": customer_id,
        "preview": preview,
        "policy_version": policy_version,
    }
    return hash_of(action)
