"""Money as people read and write it. Amounts are integers in the currency's minor unit (ISO 4217)."""

import re
from decimal import Decimal

from babel import Locale
from babel.numbers import NumberFormatError, format_currency, format_decimal, get_currency_symbol, parse_decimal
from django.utils.translation import get_language
from django.utils.translation import gettext as _

# Not babel's: CLDR says how many digits are usual (none of HUF or COP), and not what the minor unit is.
_NO_MINOR = {
    "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF",
}  # fmt: skip
_THREE = {"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"}
_BY_SYMBOL = {"GBP", "USD", "EUR", "JPY"}
"""All others are told by their code, which leaves nobody guessing whose dollars or crowns they are."""

MAX_MINOR = 10**12


def digits_of(currency: str) -> int:
    """How many decimal places the currency's minor unit has."""
    if currency in _NO_MINOR:
        return 0
    return 3 if currency in _THREE else 2


def parse(text: str, currency: str) -> int:
    """An amount as the reader of this page writes it (12, 12.50, £1,250; in German 1.250,50 €) in minor units;
    ValueError says what would be right."""
    digits = digits_of(currency)
    plain = text.strip().strip(get_currency_symbol(currency, "en")).strip()
    try:
        if not re.fullmatch(r"[\d.,]{1,20}", plain, re.ASCII):
            raise NumberFormatError("not in plain digits")
        amount = parse_decimal(plain, _language(), strict=True).scaleb(digits)
        if int(amount.as_tuple().exponent) < 0 or amount >= MAX_MINOR * 10**digits:
            raise NumberFormatError("not in minor units")
    except NumberFormatError as error:
        raise ValueError(_("Give an amount such as %(amount)s.") % {"amount": told(1250, currency)}) from error
    return int(amount)


def show(amount_minor: int, currency: str, language: str = "en") -> str:
    """An amount with its symbol or code: £12.00, ¥500, 1.250 KWD. English, as all is that is kept or sent."""
    usual = str(Locale(language).currency_formats["standard"].pattern)
    pattern = usual if currency in _BY_SYMBOL else "#,##0.00 ¤¤"
    pattern = pattern.replace("0.00", _zeros(currency))
    return format_currency(_major(amount_minor, currency), currency, pattern, language, currency_digits=False)


def told(amount_minor: int, currency: str) -> str:
    """The same in the language of this page: 12,00 £ in German."""
    return show(amount_minor, currency, _language())


def written(amount_minor: int, currency: str) -> str:
    """An amount as the reader of this page would type it, for fields: 1250.00 or 1250,00."""
    return format_decimal(_major(amount_minor, currency), _zeros(currency), _language())


def _language() -> str:
    return (get_language() or "en").partition("-")[0]


def _zeros(currency: str) -> str:
    digits = digits_of(currency)
    return f"0.{'0' * digits}" if digits else "0"


def _major(amount_minor: int, currency: str) -> Decimal:
    return Decimal(amount_minor).scaleb(-digits_of(currency))
