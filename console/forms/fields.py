"""What the console's forms are made of. Every field says in one sentence what would be right."""

from collections.abc import Callable, Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import ProhibitNullCharactersValidator, RegexValidator
from django.utils.functional import lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from approvals import errors
from approvals.models import Staff
from approvals.people import shifts
from base.http.converters import Digest, Reference

Words = Any
"""A sentence of ours, at once or in the language of whoever will read it."""
STALE = _("Reload the page, then do it again.")
"""Of what a page fills in by itself."""
_BIGGEST = 2**63 - 1
_UNREADABLE = RegexValidator(
    "\ufffd", _("Contains a character that could not be read; type it again."), inverse_match=True
)


class Form(forms.Form):
    """What a page's POST holds, checked; `ids` is how the fields' ids are made where a page has several forms."""

    ids = "%s"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": self.ids, **kwargs})

    @property
    def refusal(self) -> errors.Invalid:
        """What is wrong, by field."""
        return errors.Invalid({name: [str(text) for text in texts] for name, texts in self.errors.items()})

    def checked(self) -> dict[str, Any]:
        """What was sent, cleaned. Raises errors.Invalid."""
        if not self.is_valid():
            raise self.refusal
        return self.cleaned_data

    @property
    def typed(self) -> dict[str, Any]:
        """What was typed, for a page that keeps it."""
        return {name: self[name].value() or "" for name in self.fields}

    def put(self, error: errors.DecisionError) -> None:
        """Say beside the fields what a service found wrong."""
        for name, texts in error.fields.items() if isinstance(error, errors.Invalid) else []:
            for text in texts:
                self.add_error(name if name in self.fields else None, text)


def bounded(words: str, most: int) -> Any:
    """A sentence with the number that it names, in the reader's language; `words` is marked by gettext_noop."""
    return lazy(lambda: gettext(words) % {"most": errors.grouped(most)}, str)()


class Text(forms.CharField):
    """Text as people type it, its lines ended as everywhere else."""

    def __init__(self, *, most: int, wrong: Words = "", **kwargs: Any) -> None:
        said = wrong or bounded("At most %(most)s characters.", most)
        super().__init__(max_length=most, error_messages={"required": said, "max_length": said}, **kwargs)
        self.validators = [
            ProhibitNullCharactersValidator(_("Contains a NUL character; remove it.")), _UNREADABLE,
            *(each for each in self.validators if not isinstance(each, ProhibitNullCharactersValidator)),
        ]  # fmt: skip

    def to_python(self, value: Any) -> str:
        return str(super().to_python(str(value or "").replace("\r\n", "\n")))


class Choice(forms.ChoiceField):
    """One of a few."""

    def __init__(self, choices: Any, wrong: Words, **kwargs: Any) -> None:
        super().__init__(choices=choices, error_messages={"required": wrong, "invalid_choice": wrong}, **kwargs)


class Pattern(forms.RegexField):
    """Text of one form: a reference or a digest."""

    def __init__(self, pattern: str, wrong: Words, **kwargs: Any) -> None:
        messages: dict[str, Any] = dict.fromkeys(("required", "invalid", "null_characters_not_allowed"), wrong)
        super().__init__(rf"\A(?:{pattern})\Z", error_messages=messages, **kwargs)


REFERENCE, DIGEST = Reference.regex, Digest.regex


class Number(forms.IntegerField):
    """A whole number of ours: of a row, or of a version."""

    def __init__(self, wrong: Words, *, least: int = 0, most: int = _BIGGEST, **kwargs: Any) -> None:
        messages: dict[str, Any] = dict.fromkeys(("required", "invalid", "min_value", "max_value"), wrong)
        super().__init__(min_value=least, max_value=most, error_messages=messages, **kwargs)

    def to_python(self, value: Any) -> int | None:
        """Plain digits alone: Python takes other scripts' too."""
        if value and not (str(value).isascii() and str(value).isdigit()):
            raise ValidationError(self.error_messages["invalid"])
        return super().to_python(value)


class _Presence(forms.TextInput):
    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        return data.get(name)


class Pressed(forms.Field):
    """A button or a box: whether it is there counts, and its value is one that browsers send."""

    widget = _Presence
    values = (None, "", "on", "1")

    def clean(self, value: Any) -> bool:
        if value not in self.values:
            raise ValidationError(STALE)
        return value is not None


class Colleague(Text):
    """Somebody who decides requests, by name."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(most=150, wrong=_("Choose a colleague who decides requests."), **kwargs)

    def clean(self, value: Any) -> Staff | None:
        name = super().clean(value)
        try:
            return shifts.colleague(name) if name else None
        except errors.Invalid as error:
            raise ValidationError(error.message) from error


class Several(forms.Field):
    """Values that a page sends under one name, each of one form."""

    widget = forms.MultipleHiddenInput

    def __init__(self, read: Callable[[str], Any], wrong: Words, **kwargs: Any) -> None:
        self.read, self.wrong = read, wrong
        super().__init__(required=False, **kwargs)

    def clean(self, value: Iterable[str]) -> list[Any]:
        try:
            return [self.read(each) for each in value]
        except ValueError as error:
            raise ValidationError(self.wrong) from error
