"""How sqlwin's answer stands to Spark's: one class for each expression.

| class | |
|---|---|
| `same` | type, values and errors; or neither gives any value |
| `near` | but for the last digit of a double, or of its text, which Java 17 does not keep short |
| `type` | the values, not the type |
| `never` | refused for a reason of `sqlwin/functions/never.py`, where Spark has values |
| `refused` | a QueryError, where Spark has values |
| `rejected` | a row goes to the error stream that has a value |
| `unraised` | a value, or NULL, where Spark raises |
| `taken` | values, where Spark refuses the expression |
| `silent` | another value |
| `crash` | neither an answer nor an error that is one of ours |

An expression with rows of several classes has the last of them in this order.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial

from sqlwin.functions.never import reasons
from tests.functions.canonical import Json
from tests.functions.intervals import named, numbers, shown
from tests.functions.oracle import Answer
from tests.functions.ours import CLOCK, Ours

CLASSES = (
    *("same", "near", "type", "never", "refused", "rejected", "unraised", "taken"),
    *("silent", "crash"),
)
_AS_JAVA = re.compile(r"-?[0-9]\.[0-9]+E-?[0-9]+")
NEAR = {"double": 4e-16, "float": 2e-7}
"""Relative, by what is in a type's name: about two units in the last place."""


@dataclass(frozen=True)
class Verdict:
    """rows: those that differ, with the class of each. why: of a refusal or crash."""

    kind: str
    rows: tuple[tuple[int, str], ...] = ()
    why: str = ""


def verdict(theirs: Answer, ours: Ours) -> Verdict:
    if ours.crashed:
        return Verdict("crash", why=ours.crashed)
    if theirs.refused:
        return Verdict("same") if ours.refused else Verdict("taken", why=theirs.refused)
    if ours.refused:
        return Verdict(_of_refusal(theirs, ours), why=ours.refused)
    if all(map(_raised, theirs.rows)) and _raises_or_null(ours.rows):
        return Verdict("same")
    mistyped = theirs.type != _type(theirs, ours) and theirs.type != "void"
    if "interval" in theirs.type:
        ours = replace(ours, rows=tuple(map(numbers, ours.rows)))
    if theirs.type.startswith("interval"):
        theirs = replace(theirs, rows=tuple(shown(row, theirs.type) for row in theirs.rows))
    pairs = zip(theirs.rows, ours.rows, strict=True)
    kind_of = partial(_of_row, mistyped=mistyped, near=_digits(theirs.type))
    rows = [(at, kind_of(one, other)) for at, (one, other) in enumerate(pairs)]
    different = tuple((at, kind) for at, kind in rows if kind != "same")
    kinds = {kind for _, kind in different} | ({"type"} if mistyped else set())
    why = f"{theirs.type} → {ours.type}" if "type" in kinds else ""
    return Verdict(max(kinds, key=CLASSES.index, default="same"), different, why)


def _of_refusal(theirs: Answer, ours: Ours) -> str:
    if all(map(_raised, theirs.rows)):
        return "same"
    return "never" if ours.refused.endswith((*reasons(), CLOCK)) else "refused"


def _type(theirs: Answer, ours: Ours) -> str:
    """Of an INTERVAL, which is a text here, as the text says it; within another type as theirs."""
    if theirs.type.startswith("interval"):
        return next(filter(None, map(named, ours.rows)), theirs.type)
    return theirs.type if "interval" in theirs.type else ours.type


def _raised(value: Json) -> bool:
    return isinstance(value, dict) and "!" in value


def _raises_or_null(rows: tuple[Json, ...]) -> bool:
    """Constants that raise do so in Spark before there is a row, so even where it has a NULL."""
    return any(map(_raised, rows)) and all(value is None or _raised(value) for value in rows)


def _digits(type_: str) -> float:
    """How far apart two values of a type are near, 0 where they are the same or not."""
    return next((near for name, near in NEAR.items() if name in type_), 0.0)


def _of_row(theirs: Json, ours: Json, mistyped: bool, near: float) -> str:
    if _raised(theirs) or _raised(ours):
        if _raised(theirs) == _raised(ours):
            return "same"
        return "unraised" if _raised(theirs) else "rejected"
    if theirs == ours and _kinds(theirs) == _kinds(ours):
        return "same"
    if mistyped and _number(theirs) == _number(ours) is not None:
        return "type"
    is_near = _same_double(theirs, ours) or (near and _near(theirs, ours, near))
    return "near" if is_near else "silent"


def _same_double(theirs: Json, ours: Json) -> bool:
    """Whether both are texts of one DOUBLE, of which Java 17 has more digits than it takes.

    >>> _same_double("4.6116860184273879E18", "4.611686018427388E18"), _same_double("1.5", "1.5")
    (True, False)
    """
    texts = [each for each in (theirs, ours) if isinstance(each, str)]
    if not all(map(_AS_JAVA.fullmatch, texts)) or len(texts) < 2:
        return False
    return float(texts[0]) == float(texts[1])


def _number(value: Json) -> Decimal | None:
    """Of an integer, or of what a DECIMAL or DOUBLE is in this form."""
    try:
        return Decimal(value) if isinstance(value, int | str) else None
    except ArithmeticError:
        return None


def _kinds(value: Json) -> Json:
    """True is 1 to Python, not to SQL."""
    return [_kinds(each) for each in value] if isinstance(value, list) else type(value)


def _near(theirs: Json, ours: Json, near: float) -> bool:
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        pairs = zip(theirs, ours, strict=True)
        return all(one == other or _near(one, other, near) for one, other in pairs)
    try:
        one, other = float(theirs), float(ours)
    except (ValueError, TypeError):
        return False
    return one != other and math.isclose(one, other, rel_tol=near)


@dataclass
class Tally:
    """Verdicts of one subject."""

    verdicts: dict[str, Verdict] = field(default_factory=dict)

    def counts(self) -> dict[str, int]:
        kinds = [each.kind for each in self.verdicts.values()]
        return {kind: kinds.count(kind) for kind in CLASSES}
