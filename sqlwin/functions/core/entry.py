"""What a function is: its names, what it takes and gives, and how it is computed.

    function("upper ucase", of("(STRING) -> STRING", "upper({0})"), doc="…")
    function("initcap", of("(STRING) -> STRING", initcap))          # a Vector
    function("round", of("(N, INT!?)", _round, result=_rounded))    # text made in Python

How it is computed is one of

| a text     | DuckDB's, with `{0}`, `{1}`, … for arguments and `{all}` for all of them |
| a `Vector` | Python over Arrow's arrays                                            |
| a function | of the `Call`, to text                                                |

Arguments reach it in the types its signature wants, see `signatures`. `fails=True` says that it
may raise for some rows: AND, OR and CASE then keep it from those that they pass over. A NULL
argument is the business of whatever computes it: DuckDB's functions mostly give NULL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property

import pyarrow as pa

from sqlwin.functions.core.signatures import Signature
from sqlwin.functions.core.typed import Argument, Body, Typed
from sqlwin.functions.core.types import NULL, engine_name
from sqlwin.functions.core.vectors import Vector
from sqlwin.functions.core.volatility import Volatility
from sqlwin.lazy_dataclass import dataclass

_NAMED = re.compile(r"\{(\d+)\}")
_LONG = 100
"""Characters of an argument that is no mere column or literal."""


@dataclass(frozen=True)
class Call:
    """A function with its arguments, as its signature wants them. result: its type."""

    args: tuple[Typed | Body, ...]
    result: pa.DataType

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(arg.sql for arg in self.args)

    @property
    def engine_type(self) -> str:
        return engine_name(self.result)

    def type(self, at: int) -> pa.DataType:
        arg = self.args[at]
        return arg.type if isinstance(arg, Typed) else arg.result.type

    def filled(self, template: str, long: int = _LONG) -> str:
        """The template, with each long argument that it names twice computed once."""
        named = [int(at) for at in _NAMED.findall(template)]
        texts, twice = list(self.texts), dict[str, str]()
        for at in dict.fromkeys(named):
            if named.count(at) > 1 and len(texts[at]) > long:
                twice[f"a{at}"], texts[at] = texts[at], f"__p.a{at}"
        made = template.format(*texts, all=", ".join(texts), result=self.engine_type)
        if not twice:
            return made
        given = ", ".join(f"'{name}': {text}" for name, text in twice.items())
        return f"list_apply([{{{given}}}], lambda __p: {made})[1]"


How = str | Vector | Callable[[Call], str]


@dataclass(frozen=True)
class Overload:
    """strict: no STRING is taken for anything else. typing: of the arguments, where types alone do
    not say what the result is. parameters: of its lambdas, in terms of DuckDB's lambda: `{0} - 1`
    for the first is one less than DuckDB's first parameter. volatile: what decides its value
    besides the arguments."""

    signature: Signature
    how: How
    fails: bool = False
    strict: bool = False
    typing: Callable[[tuple[Typed | Body, ...]], pa.DataType] | None = None
    parameters: tuple[str, ...] = ()
    volatile: Volatility | None = None

    def text(self, call: Call) -> str:
        return rendered(self.how, call)


def rendered(how: How, call: Call) -> str:
    """A call as text of DuckDB."""
    if isinstance(how, str):
        return call.filled(how)
    if isinstance(how, Vector):
        types = [call.type(at) for at in range(len(call.args))]
        return f"{how.named(types, call.result)}({', '.join(call.texts)})"
    return how(call)


@dataclass(frozen=True)
class Function:
    """names: in lower case, the first is its own. doc: one sentence, for people. before: what
    arguments become beside each other, before the overloads are tried."""

    names: tuple[str, ...]
    overloads: tuple[Overload, ...]
    doc: str = ""
    before: Callable[[Sequence[Argument]], list[Argument]] | None = None

    @property
    def name(self) -> str:
        return self.names[0]


def of(
    signature: str,
    how: How,
    result: Callable[..., pa.DataType] | None = None,
    fails: bool | None = None,
    strict: bool = False,
    typing: Callable[[tuple[Typed | Body, ...]], pa.DataType] | None = None,
    parameters: tuple[str, ...] = (),
    volatile: Volatility | None = None,
) -> Overload:
    """fails: by default a Vector may raise, and all else may not."""
    may = isinstance(how, Vector) if fails is None else fails
    if typing is not None:
        result = _untold
    known = Signature.of(signature, result)
    return Overload(known, how, may, strict, typing, parameters, volatile)


def _untold(*_: pa.DataType) -> pa.DataType:
    return NULL


def function(
    names: str,
    *overloads: Overload,
    doc: str = "",
    before: Callable[[Sequence[Argument]], list[Argument]] | None = None,
) -> Function:
    return Function(tuple(names.split()), overloads, doc, before)


def failing(code: str, message: str) -> str:
    """Text that ends the row with an error of Spark's. message: no braces or quotes in it."""
    return f"error('[{code}] {message}')"
