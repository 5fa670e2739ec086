"""What walks a tree of sqlglot: each node by the rule of its class, or as a call of a function.

`rules` are those of `compiled.py` beside it; a rule compiles the parts of its node by the compiler
it is given, which knows the columns and the parameters of the lambdas around. What has no meaning
is Uncompiled, with the node that is to blame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from itertools import count
from typing import Any, TypeGuard

import pyarrow as pa
from sqlglot import exp

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.entry import Function
from sqlwin.functions.core.literals import literal
from sqlwin.functions.core.typed import Argument, Body, Lambda, NotConstant, Refused, Typed
from sqlwin.functions.core.types import (
    BINARY,
    BOOLEAN,
    NULL,
    STRING,
    is_integral,
    is_interval,
    name,
)
from sqlwin.functions.core.volatility import Volatility
from sqlwin.functions.elsewhere import ELSEWHERE
from sqlwin.functions.never import why_function
from sqlwin.functions.numbers.chains import SIGNS
from sqlwin.functions.resolve import resolved
from sqlwin.functions.table import find
from sqlwin.lazy_dataclass import dataclass
from sqlwin.names import nearest
from sqlwin.plan.explain.functions import meant
from sqlwin.sql.expressions.compile.raising import Constants
from sqlwin.sql.expressions.dialect.calling import called
from sqlwin.sql.expressions.engine import constant, is_null
from sqlwin.sql.expressions.registered import scalar_function
from sqlwin.sql.expressions.volatile import volatility

_LONGEST = 1000
"""Characters of a text that a lambda makes of constants."""
_FIRST_OF = ("coalesce", "ifnull", "nvl")
Expr = exp.Expr


class Uncompiled(Exception):
    """node: which part of the tree has no meaning."""

    def __init__(self, node: Expr, reason: str, legal: str = "") -> None:
        super().__init__(reason)
        self.node, self.legal = node, legal


Rules = Mapping[type[Expr], "Callable[[Compiler, Any], Typed]"]


@dataclass
class Compiler:
    columns: dict[str, pa.DataType]
    rules: Rules
    scopes: list[dict[str, Typed]] = field(default_factory=list)
    numbers: Any = field(default_factory=count)
    constants: Constants = field(default_factory=Constants)

    def typed(self, node: Expr) -> Typed:
        mark = self.constants.mark()
        made = self._typed(node)
        self.constants.keep(mark, node, made)
        return made

    def _typed(self, node: Expr) -> Typed:
        rule = self.rules.get(type(node))
        try:
            if rule is not None:
                return rule(self, node)
            return self.call(node, *called(node))
        except Refused as refused:
            raise Uncompiled(node, str(refused), refused.legal) from None

    def call(self, node: Expr, function: str, arguments: Sequence[Expr | Typed]) -> Typed:
        """A function by its name, of nodes or of what is compiled."""
        found = scalar_function(node) or find(function)
        if found is None:
            raise Uncompiled(node, _unknown(node, function.lower()))
        columns, _ = self.constants.mark()
        given = [self._given(found.name, arg) for arg in arguments]
        try:
            made = _resolved(found, given, arguments)
            if found.name.startswith("map") and self.constants.columns == columns:
                made = _put(found.name, made)
            if found.name in _FIRST_OF and _is_value(given[0]):
                made = replace(cast(given[0], made.type, implicitly=True), written=False)
                self.constants.columns = columns
            return _short(made) if self._grown(made, given) else made
        except Refused as refused:
            at = arguments[refused.at] if refused.at is not None else node
            place = at if isinstance(at, Expr) else node
            raise Uncompiled(place, str(refused), refused.legal) from None

    def _grown(self, made: Typed, given: Sequence[Argument]) -> bool:
        """Whether it is a text made of constants within a lambda."""
        text = made.type in (STRING, BINARY) and not made.is_constant
        return text and bool(self.scopes and given) and all(map(_is_constant, given))

    def _given(self, function: str, node: Expr | Typed) -> Argument:
        if isinstance(node, Typed):
            return node
        with self.constants.argument(function):
            made = self.argument(node)
        return _folded_operand(node, made) if function in SIGNS else made

    def argument(self, node: Expr) -> Argument:
        if not isinstance(node, exp.Lambda):
            return _folded_null(node, self.typed(node), bool(self.scopes))
        names_ = [parameter.name.lower() for parameter in node.expressions]

        def body(types: Sequence[pa.DataType], texts: Sequence[str]) -> Body:
            own = [f"__x{next(self.numbers)}" for _ in names_]  # no column is called so
            given = [Typed(text.format(*own), t) for text, t in zip(texts, types, strict=True)]
            self.scopes.append(dict(zip(names_, given, strict=True)))
            try:
                used = [name_ for at, name_ in enumerate(own) if f"{{{at}}}" in "".join(texts)]
                return Body(tuple(used), self.typed(node.this))
            finally:
                self.scopes.pop()

        return Lambda(len(names_), body)

    def named(self, name_: str) -> Typed | None:
        """A parameter of a lambda around, the innermost first."""
        return next((s[name_.lower()] for s in reversed(self.scopes) if name_.lower() in s), None)

    def boolean(self, node: Expr, taken: Sequence[pa.DataType] = (STRING, NULL)) -> Typed:
        """taken: other types that it may have."""
        found = self.typed(node)
        if found.type not in (BOOLEAN, *taken):
            raise Refused(f"{name(found.type).upper()} is no condition", legal="a comparison")
        return cast(found, BOOLEAN, implicitly=True)


def _folded_null(node: Expr, made: Typed, in_lambda: bool) -> Typed:
    """What is NULL for every row as a constant: functions of it need not look at the others."""
    if made.is_constant or in_lambda or node.find(exp.Column):
        return made
    if not node.find(exp.Null, exp.TryCast, exp.Case, exp.Nullif) or not is_null(made.sql):
        return made
    return replace(made, value=None, fails=False)


def _folded_operand(node: Expr, made: Argument) -> Argument:
    """Of a sum or product: what has no columns is one of the constants that Spark puts last."""
    if not isinstance(made, Typed) or made.is_constant or not is_integral(made.type):
        return made
    value = None if node.find(exp.Column, exp.Identifier) else constant(made.sql)
    return made if value is None else literal(value, made.type)


def _resolved(
    function: Function, given: Sequence[Argument], arguments: Sequence[Expr | Typed]
) -> Typed:
    """The call; an argument that has to be a constant may be computed of constants."""
    try:
        return resolved(function, given)
    except NotConstant as refused:
        at = refused.place
        folded = _folded(arguments[at], given[at])
        if folded is None:
            raise
        return resolved(function, [*given[:at], folded, *given[at + 1 :]])


def _folded(node: Expr | Typed, made: Argument) -> Typed | None:
    """A text or interval of no columns as a constant; None where it is NULL, fails or is else."""
    if not isinstance(made, Typed) or not isinstance(node, Expr) or made.is_constant:
        return None
    known = made.type == STRING or is_interval(made.type)
    if not known or node.find(exp.Column, exp.Identifier, exp.Lambda):
        return None
    value = constant(made.sql)
    return None if value is None else literal(value, made.type)


def _is_value(arg: Argument) -> TypeGuard[Typed]:
    return isinstance(arg, Typed) and arg.is_constant and arg.value is not None


def _is_constant(arg: Argument) -> bool:
    return isinstance(arg, Typed) and arg.is_constant


def _put(function: str, made: Typed) -> Typed:
    """A map of constants."""
    from sqlwin.functions.nested.map_making import PUTTING, unsigned

    return unsigned(made) if function in PUTTING else made


def _short(made: Typed) -> Typed:
    """What is made of constants, as a constant: a lambda would have it once for each element."""
    value = constant(made.sql)
    if value is not None and len(value) > _LONGEST:
        message = f"within a lambda a text of constants has at most {_LONGEST} characters"
        raise Refused(message, legal="a column")
    return made if value is None else literal(value, made.type)


def _unknown(node: Expr, function: str) -> str:
    class_ = volatility(node)
    if class_ is Volatility.SESSION:
        return f"{function} depends on more than the row, and cannot stand in an expression"
    if class_ is Volatility.PROCESSING_TIME:
        return f"no function is called {function}; CURRENT_TIMESTAMP and CURRENT_DATE are known"
    never = why_function(function)
    if never:
        return f"{function} is not supported: {never}"
    return f"no function is called {function}{nearest(function, meant(), ELSEWHERE)}"
