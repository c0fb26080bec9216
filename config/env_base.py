"""What the groups of variables share: how they are read and refused, and how numbers and addresses are written."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, InitSettingsSource, SettingsConfigDict


class EnvError(ValueError):
    """A variable is unknown or has a value that cannot be used; the message is one sentence."""


class _Given(EnvSettingsSource):
    """The variables of a mapping that need not be this process's environment."""

    def __init__(self, settings_cls: type[BaseSettings], given: Mapping[str, str]) -> None:
        self._given = given
        super().__init__(settings_cls)

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return self._given


class Variables(BaseSettings):
    """A group of variables. A field is named after its variable without PLACET_; one that is not shown is a secret,
    and its variable can also be given as NAME_FILE."""

    called: ClassVar[str] = "Placet"
    model_config: ClassVar[SettingsConfigDict] = SettingsConfigDict(
        alias_generator=lambda name: f"PLACET_{name.upper()}",
        populate_by_name=True,
        case_sensitive=True,
        enable_decoding=False,
        frozen=True,
        validate_default=False,
        hide_input_in_errors=True,
    )

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: Any, *others: Any, **named: Any
    ) -> tuple[Any, ...]:
        """What is made in code reads no environment behind its maker's back."""
        return (init_settings,)

    @classmethod
    def variables(cls, *, secret: bool = False) -> set[str]:
        """The names of all variables of this group, or of its secrets."""
        fields = [field for field in cls.model_fields.values() if not (secret and field.repr)]
        return {name for field in fields if (name := str(field.validation_alias)).isupper()}

    @classmethod
    def read(cls, given: Mapping[str, str], **made: object) -> Self:
        """Read this group; what is made from other variables comes by its field's name. Raises EnvError."""
        try:
            return cls(_build_sources=((InitSettingsSource(cls, made), _Given(cls, given)), {}))
        except ValidationError as refused:
            raise EnvError(cls._sentence(refused)) from refused

    @classmethod
    def _sentence(cls, refused: ValidationError) -> str:
        error = refused.errors()[0]
        cause = error.get("ctx", {}).get("error")
        if isinstance(cause, EnvError):
            return str(cause)
        name = str(error["loc"][0])
        if cause is not None:
            return f"{name} {cause}"
        fields = {str(field.validation_alias): field for field in cls.model_fields.values()}
        if error["type"] == "missing":
            needed = ", ".join(variable for variable, field in fields.items() if field.is_required())
            return f"{name} is missing: {cls.called} needs {needed}."
        return f"{name} is {str(error['input'])[:20]!r}: give {fields[name].description}."


def from_files(given: Mapping[str, str], names: set[str]) -> dict[str, str]:
    """The same variables, with those of these names that stand in a file which NAME_FILE names. Raises EnvError."""
    files = {name: given[f"{name}_FILE"] for name in names if f"{name}_FILE" in given}
    if both := sorted(files.keys() & given.keys()):
        raise EnvError(f"{both[0]} and {both[0]}_FILE are both set: keep one of them.")
    rest = {name: value for name, value in given.items() if name.removesuffix("_FILE") not in files}
    return rest | {name: _content(name, path) for name, path in files.items()}


def _content(name: str, path: str) -> str:
    try:
        text = Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise EnvError(f"{name}_FILE cannot be read ({why}): give the path of a file that holds {name}.") from error
    if not text:
        raise EnvError(f"{name}_FILE names an empty file: give the path of a file that holds {name}.")
    return text


def whole(least: int, most: int) -> BeforeValidator:
    """A whole number between two bounds, both included, in plain digits."""

    def check(text: object) -> int:
        plain = str(text)
        if not (plain.isascii() and plain.isdigit() and len(plain) < 12 and least <= int(plain) <= most):
            raise ValueError(f"is {plain!r}: give a whole number from {least} to {most}.")
        return int(plain)

    return BeforeValidator(check)


def listed(text: str) -> list[str]:
    """The parts between commas, without blanks and empty ones."""
    return [part.strip() for part in text.split(",") if part.strip()]


def address(*schemes: str, example: str) -> AfterValidator:
    """An address with one of these schemes and a host."""

    def check(text: str) -> str:
        # The value itself may hold a password, so the message never repeats it.
        problem = ValueError(f"is not an address that can be used: give one like {example}.")
        try:
            parts = urlsplit(text)
            usable = parts.scheme in schemes and parts.hostname and parts.port != 0
        except ValueError as error:
            raise problem from error
        if not usable:
            raise problem
        return text

    return AfterValidator(check)
