"""Descriptions of functions: SHOW FUNCTIONS, DESCRIBE FUNCTION and docs/functions.md.

All of it is read from the tables that expressions and windows are computed by: scalars of
`sqlwin.functions.table`, aggregates of `sqlwin.aggregates`.

>>> print("\\n".join(described("ucase")))
upper: In capitals.
  UPPER(STRING) -> STRING
  also called: UCASE
>>> like("upp*|ucas*")
['ucase', 'upper']
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from types import ModuleType

from sqlwin.aggregates import ALIASES, REFUSED, SIGNATURES, Signature, signature
from sqlwin.functions.core.entry import Function, Overload
from sqlwin.functions.differences import DIFFERENCES
from sqlwin.functions.never import COLLATION, NEVER, PREFIXES, TYPES, volatility
from sqlwin.functions.table import TABLE, find, rooms

MOST = 30
"""Signatures of one function that are listed."""
HEAD = """\
# Functions

What an expression may call, as Spark SQL has it in ANSI mode, in a session whose time zone is UTC,
or that of [SET 'time.zone'](semantics/time.md#the-time-zone-of-a-session). Letters in a signature
stand for one type each: `N` a number, `I` an integral one, `F` FLOAT or DOUBLE, `O` what
has an order, `S` STRING or BINARY, `T`, `U`, `K` and `V` anything; `?` may be left out, `...` may
be repeated, `!` is a constant. Aggregates are in [aggregates](aggregates.md).

This page is made from the table that queries are compiled by: `make functions`.
"""


def described(name: str) -> list[str] | None:
    """Lines about a function; None where there is none of this name."""
    scalar, aggregate = find(name), signature(name.lower())
    if scalar is not None:
        return [*_scalar(scalar)]
    if aggregate is not None:
        return [*_aggregate(aggregate)]
    refusal = REFUSED.get(name.lower())
    if refusal is None:
        return None
    return [f"{name.lower()}: no aggregate here, for {refusal.why}.", f"  {refusal.nearest}"]


def names() -> list[str]:
    """Of scalars and aggregates, in every spelling; no operators."""
    aggregates = _canonical() | set(ALIASES)
    return sorted(aggregates | {name for name in TABLE if name.isidentifier()})


WINDOWS = (
    *("tumble", "hop", "cumulate", "session", "window", "session_window", "window_time"),
    *("tumble_start", "tumble_end", "hop_start", "hop_end", "session_start", "session_end"),
)


def meant() -> list[str]:
    """All that a call may have meant: windows, too, which are no functions of a row."""
    return [*names(), *WINDOWS]


def like(pattern: str | None, own: Iterable[str] = ()) -> list[str]:
    """Those that a pattern of Spark's names: `*` is anything, `|` parts two patterns. own: of the
    script, beside those of SQL."""
    wanted = [part.strip().lower() for part in (pattern or "*").split("|")]
    known = sorted({*names(), *map(str.lower, own)})
    return [name for name in known if any(fnmatchcase(name, part) for part in wanted)]


def page() -> str:
    """docs/functions.md."""
    return "\n".join([HEAD, *(line for room in rooms() for line in _room(room)), *_rest()])


def _room(room: ModuleType) -> Iterator[str]:
    yield f"## {(room.__doc__ or '').splitlines()[0].rstrip('.').partition(':')[0]}"
    yield ""
    yield "| function | also | takes and gives | |"
    yield "|---|---|---|---|"
    listed = (function for function in room.FUNCTIONS if function.doc)
    for function in sorted(listed, key=lambda function: function.name):
        also = " ".join(_code(name) for name in function.names[1:])
        signatures = "<br>".join(_few(map(_takes, TABLE[function.name].overloads)))
        yield f"| {_code(function.name)} | {also} | {signatures} | {function.doc} |"
    yield ""


def _few(signatures: Iterable[str]) -> list[str]:
    """Each once; of a function that takes any number of arguments in turns, the first of them.

    >>> _few(f"({', '.join(['ANY'] * n)})" for n in range(99))
    ['()', '(ANY)', '(ANY, ANY)', '…']
    """
    found = list(dict.fromkeys(signatures))
    return found if len(found) <= MOST else [*found[:3], "…"]


def _takes(overload: Overload) -> str:
    """The signature, and the class of what the arguments do not decide."""
    volatile = "" if overload.volatile is None else f" {overload.volatile.value}"
    return f"{_code(overload.signature.text)}{volatile}"


def _rest() -> Iterator[str]:
    yield from _aggregates()
    yield from _differences()
    yield from _never()


def _aggregates() -> Iterator[str]:
    yield "## Aggregates"
    yield ""
    yield "Taken, with Spark's types, NULLs and errors, as [aggregates](aggregates.md) has them:"
    yield ", ".join(_code(name) for name in sorted({*ALIASES, *_canonical(), "count_if"})) + "."
    yield ""
    yield "Refused by name:"
    yield ""
    yield "| aggregate | why | nearest |"
    yield "|---|---|---|"
    for name, refusal in sorted(REFUSED.items()):
        yield f"| {_code(name)} | {refusal.why} | {refusal.nearest} |"
    yield ""


def _canonical() -> set[str]:
    return {known.name for known in SIGNATURES}


def _differences() -> Iterator[str]:
    yield "## Differences that remain"
    yield ""
    yield "Answers are compared with Spark's 4.3, function by function and composed at random."
    yield "Known to differ:"
    yield ""
    yield "| | Spark | here |"
    yield "|---|---|---|"
    for row in DIFFERENCES:
        yield f"| {' | '.join(row)} |"
    yield ""


def _never() -> Iterator[str]:
    yield "## Never"
    yield ""
    yield "Functions of Spark and others that queries here do not call:"
    yield ""
    yield "| function | why | class |"
    yield "|---|---|---|"
    families = {f"{prefix.upper()}…": reason for prefix, reason in PREFIXES.items()}
    for name, reason in sorted((NEVER | families).items(), key=lambda item: item[0].upper()):
        class_ = volatility(name)
        yield f"| {_code(name)} | {reason} | {'' if class_ is None else class_.value} |"
    yield ""
    yield "Types that no value here is of, and collations:"
    yield ""
    yield "| type | why |"
    yield "|---|---|"
    for name, reason in TYPES.items():
        yield f"| {_code(name)} | {reason} |"
    yield f"| STRING with another collation | {COLLATION} |"
    yield ""


def _code(text: str) -> str:
    plain = text.upper() if text.isidentifier() else text
    return "`" + plain.replace("|", "\\|") + "`"


def _scalar(function: Function) -> Iterator[str]:
    yield f"{function.name}: {function.doc}" if function.doc else function.name
    own = function.name.upper()
    classes = ("" if o.volatile is None else f" ({o.volatile.value})" for o in function.overloads)
    texts = (overload.signature.text for overload in function.overloads)
    for signature_ in _few(
        f"{own}{text}{class_}" for text, class_ in zip(texts, classes, strict=True)
    ):
        yield f"  {signature_}"
    yield from _also(function.names[1:])


def _aggregate(known: Signature) -> Iterator[str]:
    yield f"{known.name}: an aggregate of {known.accepts}."
    yield f"  {known.example}"
    yield from _also(tuple(name for name, to in ALIASES.items() if to == known.name))


def _also(others: tuple[str, ...]) -> Iterator[str]:
    if others:
        yield f"  also called: {', '.join(name.upper() for name in others)}"


if __name__ == "__main__":
    sys.stdout.write(page())
