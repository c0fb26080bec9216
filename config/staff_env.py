"""The part of the environment that says how staff sign in and how fresh that has to be."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from config.env_base import Variables, address, whole


def _not_plain(issuer: str) -> str:
    if urlsplit(issuer).scheme == "http" and urlsplit(issuer).hostname not in ("localhost", "127.0.0.1"):
        raise ValueError("is plain http: give an https address, or one on localhost for tests.")
    return issuer.rstrip("/")


def _fits_a_button(name: str) -> str:
    if len(name) > 60:
        raise ValueError("is too long for a button: give at most 60 characters.")
    return name


class Oidc(Variables):
    """An identity provider that staff may sign in with; `name` is what its button says."""

    called: ClassVar[str] = "an identity provider"
    issuer: Annotated[
        str,
        address("https", "http", example="https://login.example.com/realms/shop"),
        AfterValidator(_not_plain),
    ] = Field(validation_alias="PLACET_OIDC_ISSUER")
    client_id: str = Field(validation_alias="PLACET_OIDC_CLIENT_ID")
    client_secret: str = Field(validation_alias="PLACET_OIDC_CLIENT_SECRET", repr=False)
    name: Annotated[str, AfterValidator(_fits_a_button)] = Field("single sign-on", validation_alias="PLACET_OIDC_NAME")
    provider: str = Field("oidc", validation_alias="provider")
    """How it is called in addresses, and where subjects are kept."""

    @classmethod
    def where_set(cls, given: Mapping[str, str]) -> Self | None:
        """Read the provider, whole or not at all. Raises EnvError."""
        return cls.read(given) if cls.variables() & given.keys() else None


class StaffAccess(Variables):
    """How staff sign in. Above the higher line a decision needs an authentication of the last `fresh_minutes`."""

    mfa: Literal["optional", "required"] = Field(
        "optional", validation_alias="PLACET_STAFF_MFA", description="optional or required"
    )
    fresh_minutes: Annotated[int, whole(1, 24 * 60)] = 15
    oidc: Oidc | None = Field(None, validation_alias="oidc")

    @property
    def oidc_apps(self) -> list[dict[str, Any]]:
        """The provider as allauth wants to be told."""
        if self.oidc is None:
            return []
        known = {"client_id": self.oidc.client_id, "secret": self.oidc.client_secret, "name": self.oidc.name}
        return [{"provider_id": self.oidc.provider, **known, "settings": {"server_url": self.oidc.issuer}}]
