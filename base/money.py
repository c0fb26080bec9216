"""Money as people read it. Amounts are integers in the currency's minor unit (ISO 4217)."""

import re

_NO_MINOR = {
    "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF",
}  # fmt: skip
_THREE = {"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"}
_SYMBOLS = {"GBP": "£", "USD": "$", "EUR": "€", "JPY": "¥"}

MAX_MINOR = 10**12


def digits_of(currency: str) -> int:
    """How many decimal places the currency's minor unit has."""
    if currency in _NO_MINOR:
        return 0
    return 3 if currency in _THREE else 2


def parse(text: str, currency: str) -> int:
    """An amount as people write it (12, 12.50, £1,250) in minor units; ValueError says what would be right."""
    digits = digits_of(currency)
    plain = text.strip().removeprefix(_SYMBOLS.get(currency, "")).replace(",", "").strip()
    places = rf"(\.\d{{1,{digits}}})?" if digits else ""
    if not re.fullmatch(rf"\d{{1,12}}{places}", plain, re.ASCII):
        raise ValueError(f"Give an amount such as {show(1250, currency)}.")
    whole, _, rest = plain.partition(".")
    return int(whole + rest.ljust(digits, "0"))


def show(amount_minor: int, currency: str) -> str:
    """An amount with its symbol or code: £12.00, ¥500, 1.250 KWD."""
    digits = digits_of(currency)
    whole, rest = divmod(abs(amount_minor), 10**digits)
    number = f"{whole:,}" + (f".{rest:0{digits}d}" if digits else "")
    sign = "-" if amount_minor < 0 else ""
    symbol = _SYMBOLS.get(currency)
    return f"{sign}{symbol}{number}" if symbol else f"{sign}{number} {currency}"
