"""Exact sums, so that the model does not do them in its head."""

from decimal import MAX_EMAX, Decimal, Inexact, localcontext
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from agents.tools.registry import Arguments, Tool
from ledger.access.client import Lookups
from ledger.errors import Refused

LARGEST = 10**15
DIGITS = 40
_Bounded = Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False)
Number = Annotated[
    Annotated[int, _Bounded] | Annotated[float, _Bounded],
    WithJsonSchema({"type": "number", "minimum": -LARGEST, "maximum": LARGEST}),
]


class Calculate(Arguments):
    a: Number
    op: Literal["+", "-", "*", "/"]
    b: Number


def _calculate(_: Lookups, args: Calculate) -> dict[str, Any]:
    a, b = Decimal(str(args.a)), Decimal(str(args.b))
    if args.op == "/" and b == 0:
        raise Refused("arguments", "Nothing can be divided by 0. Call calculator again with another b.")
    with localcontext(prec=DIGITS, Emax=MAX_EMAX) as context:
        deeds = {"+": context.add, "-": context.subtract, "*": context.multiply, "/": context.divide}
        result = deeds[args.op](a, b)
        return {"result": f"{result.normalize():f}" if result else "0", "exact": not context.flags[Inexact]}


TOOLS = (
    Tool(
        name="calculator",
        description="One sum with two numbers, exact in decimals: a op b. Use it for totals and differences.",
        arguments=Calculate,
        read=_calculate,
    ),
)
