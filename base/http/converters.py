"""References, digests and keys in addresses."""

from django.urls import register_converter


class Reference:
    """A request's reference in an address; anything else is no page."""

    regex = "R-[0-9A-HJKMNP-TV-Z]{6,10}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(Reference, "reference")


class Digest:
    """A SHA-256."""

    regex = "[0-9a-f]{64}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(Digest, "digest")


class Key:
    """What names a customer or a member of staff: any text that a column can hold, perhaps with slashes."""

    regex = "[^\x00]{1,200}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(Key, "key")
