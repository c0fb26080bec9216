"""What a customer's sentence says: order numbers, amounts, reasons, addresses. Pure functions over text."""

import re
from decimal import Decimal
from typing import NamedTuple

SYMBOLS = {"£": ("GBP",), "€": ("EUR",), "¥": ("JPY", "CNY"), "$": ("USD", "CAD", "AUD", "NZD", "SGD")}
WORDS = {
    "pound": "£", "pounds": "£", "quid": "£", "gbp": "£",
    "dollar": "$", "dollars": "$", "bucks": "$", "usd": "$",
    "euro": "€", "euros": "€", "eur": "€",
    "yen": "¥", "jpy": "¥",
}  # fmt: skip
NO_MINOR_UNIT = {"JPY", "KRW", "VND", "CLP", "ISK", "UGX", "XAF", "XOF", "XPF", "PYG", "RWF"}
THREE_DIGITS = {"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"}

NUMBER = r"-?\d[\d,]*(?:\.\d+)?"
SIGNED = re.compile(rf"(-?[£$€¥])\s?({NUMBER})")
SPELLED = re.compile(rf"\b({NUMBER})\s*({'|'.join(WORDS)})\b", re.I)
BARE = re.compile(rf"\b(?:refund|give|pay)\s+(?:me\s+)?({NUMBER})(?=\s|[.,!?]|$)|\b(\d+\.\d\d)\b", re.I)

REFERENCE = re.compile(r"\b[RT]-[0-9A-HJKMNP-TV-Z]{6,10}\b", re.I)
METHOD_ID = re.compile(r"\b(?:credit_card|card|paypal|gift_card|pm)_\w+\b", re.I)
LONG_ID = re.compile(r"\b\d{10,}\b")
ORDER_IDS = (
    re.compile(r"#\s?([A-Z]{0,3}-?\d+[\w-]*)", re.I),
    re.compile(r"\border\s+(?:number|no\.?|nr\.?|id)?\s*#?([A-Z]{0,4}-?\d[\w-]*)", re.I),
    re.compile(r"\b([A-Z]{1,3}-?\d{3,})\b", re.I),
    re.compile(r"(?<![\d.,-])(\d{3,9})(?![\d-]|[.,]\d)"),
)

REASONS = (
    ("damaged", r"damag|broke|crack|smash|fault|defect|torn|scratch|shatter|leak"),
    ("wrong_item", r"wrong (item|product|one|size|colou?r|thing)|not what i ordered|instead of what"),
    ("late", r"\blate\b|delay|(never|hasn'?t|didn'?t|not) arriv|too long"),
)


class Amount(NamedTuple):
    """What the customer named: a currency symbol, "" where there was none, and the number."""

    symbol: str
    value: Decimal

    def fits(self, currency: str) -> bool:
        """Whether the symbol can stand for the currency; one without a symbol here always can."""
        known = any(currency in codes for codes in SYMBOLS.values())
        return not self.symbol or not known or currency in SYMBOLS[self.symbol]

    def minor(self, currency: str) -> int | None:
        """The amount in minor units; None where the currency has no such fraction."""
        scaled = self.value.scaleb(exponent(currency))
        return int(scaled) if scaled == scaled.to_integral_value() else None


def exponent(currency: str) -> int:
    """How many digits the currency's minor unit has."""
    return 0 if currency in NO_MINOR_UNIT else 3 if currency in THREE_DIGITS else 2


def money(amount_minor: object, currency: str) -> str:
    """An amount as people write it."""
    if type(amount_minor) is not int:
        return "an amount I cannot see"
    digits = exponent(currency)
    number = f"{Decimal(amount_minor).scaleb(-digits):,.{digits}f}"
    symbol = next((s for s, codes in SYMBOLS.items() if codes[0] == currency), None)
    return f"{symbol}{number}" if symbol else f"{number} {currency}".strip()


def amount(text: str) -> Amount | None:
    """The first amount of money in the text."""
    text = REFERENCE.sub(" ", text)
    if found := SIGNED.search(text):
        sign = "-" if found[1].startswith("-") else ""
        return Amount(found[1][-1], _number(sign + found[2]))
    if found := SPELLED.search(text):
        return Amount(WORDS[found[2].lower()], _number(found[1]))
    if found := BARE.search(text):
        return Amount("", _number(found[1] or found[2]))
    return None


def order_id(text: str) -> str | None:
    """The first order number in the text, as the customer wrote it, letters in capitals."""
    for pattern in (REFERENCE, METHOD_ID, LONG_ID, SIGNED, SPELLED):
        text = pattern.sub(" ", text)
    for pattern in ORDER_IDS:
        if found := pattern.search(text):
            mark = "#" if "#" + found[1] in text else ""
            return mark + found[1].rstrip("-").upper()
    return None


def reason(text: str) -> str:
    """A refund's reason, one of damaged, late, wrong_item and other."""
    return next((name for name, words in REASONS if re.search(words, text, re.I)), "other")


def reference(text: str) -> str | None:
    """The first reference of a request."""
    found = REFERENCE.search(text)
    return found[0].upper() if found else None


def address(text: str) -> dict[str, str] | None:
    """An address after "to", "is" or a colon: line 1, [line 2,] city, region, postal code, country."""
    tail = re.split(r":|\b(?:to|is|at)\b(?=[^,]*,)", text, maxsplit=1)[-1]
    parts = [part.strip(" .!\n") for part in tail.split(",")]
    if len(parts) == 5:
        parts.insert(1, "")
    names = ("line1", "line2", "city", "region", "postal_code", "country")
    return dict(zip(names, parts, strict=True)) if len(parts) == 6 else None


def _number(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))
