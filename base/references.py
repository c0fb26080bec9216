"""References that people read out: a letter and eight characters of Crockford's base 32."""

import secrets

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def new_reference(prefix: str) -> str:
    """A fresh reference such as R-7F3K9QXA: 40 random bits, unique by the table's key."""
    return f"{prefix}-" + "".join(secrets.choice(ALPHABET) for _ in range(8))
