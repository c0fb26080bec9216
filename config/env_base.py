"""What the files that read the environment share: the one error, and how lists and addresses are written."""

from collections.abc import Mapping
from urllib.parse import urlsplit


class EnvError(ValueError):
    """A variable is unknown or has a value that cannot be used; the message is one sentence."""


def listed(text: str) -> list[str]:
    """The parts between commas, without blanks and empty ones."""
    return [part.strip() for part in text.split(",") if part.strip()]


def address(given: Mapping[str, str], name: str, schemes: tuple[str, ...], example: str) -> str | None:
    """The address that a variable holds; None where it is not set. Raises EnvError."""
    text = given.get(name)
    if text is None:
        return None
    # The value itself may hold a password, so the message never repeats it.
    problem = EnvError(f"{name} is not an address that can be used: give one like {example}.")
    try:
        parts = urlsplit(text)
        usable = parts.scheme in schemes and parts.hostname and parts.port != 0
    except ValueError as error:
        raise problem from error
    if not usable:
        raise problem
    return text
