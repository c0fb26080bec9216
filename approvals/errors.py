"""Why a decision was not taken. Each is checked in the order of the classes here."""

import datetime as dt
from collections.abc import Mapping

from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _

from base.names import role_name
from base.templatetags.words import mid_words


class DecisionError(Exception):
    """The base: `message` is a sentence for the member of staff who tried."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Forbidden(DecisionError):
    """This person may not decide this request; `code` says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class NotFound(DecisionError):
    """No such request."""


class Invalid(DecisionError):
    """Some fields are wrong; `fields` says which and why."""

    def __init__(self, fields: Mapping[str, list[str]]) -> None:
        super().__init__(" ".join(text for texts in fields.values() for text in texts))
        self.fields = dict(fields)


class Expired(DecisionError):
    """The time to decide is over."""


class Conflict(DecisionError):
    """Somebody or something else was first: who and when."""

    def __init__(self, state: str, decided_by: str, decided_at: dt.datetime | None) -> None:
        super().__init__(_already(state, decided_by, decided_at))
        self.state, self.decided_by, self.decided_at = state, decided_by, decided_at


class DigestDiffers(DecisionError):
    """What was decided on is not what now stands here."""


def no_request(reference: str) -> NotFound:
    """There is none of that reference."""
    return NotFound(_("There is no request %(reference)s.") % {"reference": reference})


def not_deciding(role: str) -> Forbidden:
    """Somebody whose role decides no requests, or who is disabled."""
    told = _("The role %(role)s does not decide requests; agents and leads do.")
    return Forbidden("role", told % {"role": role_name(role)})


def grouped(number: int) -> str:
    """A number within a sentence, its digits in groups as the reader is used to."""
    return number_format(number, force_grouping=True)


def _already(state: str, by: str, at: dt.datetime | None) -> str:
    said = {"state": mid_words(state), "name": by}
    if at is not None:
        utc = at.astimezone(dt.UTC)
        said |= {"time": f"{utc:%H:%M:%S}", "day": date_format(utc, "MONTH_DAY_FORMAT")}
    if by and at is not None:
        told = _("Nothing was changed: this request is already %(state)s by %(name)s at %(time)s UTC on %(day)s.")
    elif by:
        told = _("Nothing was changed: this request is already %(state)s by %(name)s.")
    elif at is not None:
        told = _("Nothing was changed: this request is already %(state)s at %(time)s UTC on %(day)s.")
    else:
        told = _("Nothing was changed: this request is already %(state)s.")
    return told % said
