"""The arguments of a call: values, constants, DISTINCT and ORDER BY, each in its place.

`STRING_AGG(DISTINCT x, ',' ORDER BY y)`, `LISTAGG(x, ',') WITHIN GROUP (ORDER BY y)`,
`PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)` and `PERCENTILE(x, 0.5)` leave
this module with values, constants and an order apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from sqlglot import exp

from sqlwin.aggregates import Param, Signature
from sqlwin.errors import QueryError
from sqlwin.functions.core.literals import written_number
from sqlwin.functions.core.typed import Refused
from sqlwin.sql.expressions.scalars import Expr, place, spark, word, written_name
from sqlwin.sql.text import ast

Constant = int | float | str
_SORTED_ALIKE = ("mode", "median")
"""Take WITHIN GROUP as a way to write their argument; of several modes it is the first in it."""
_FRACTIONS = ("percentile_cont", "percentile_disc")


@dataclass(frozen=True)
class Arguments:
    args: tuple[Expr, ...]
    params: tuple[Constant, ...] = ()
    listed: bool = False
    distinct: bool = False
    order: tuple[exp.Ordered, ...] = ()


def arguments(
    node: Expr, known: Signature, run: ast.Run, within: exp.Order | None = None
) -> Arguments:
    """`within`: of WITHIN GROUP (ORDER BY …)."""
    given = _bound(node, run, known)
    if within is not None:
        given = _within(given, within, node, known, run)
    if known.name == "count" and not given.distinct:
        given = replace(given, args=_counted(given.args))
    _refuse_star(given, node, known, run)
    if given.order and within is None and not (known.sorts or known.name in ("first", "last")):
        by_time = known.name in ("nth_value", "nth_last")
        why = "its rows go by event time" if by_time else "no order changes its value"
        message = f"{written_name(node, run)} takes no ORDER BY: {why}"
        raise QueryError(message, place(given.order[0], run), legal=known.example)
    return _constants(given, node, known, run)


def _bound(node: Expr, run: ast.Run, known: Signature) -> Arguments:
    """All that stands in the brackets, in the order written."""
    plain: list[Expr] = []
    order: tuple[exp.Ordered, ...] = ()
    distinct = False
    for arg in _written(node):
        if isinstance(arg, exp.Limit):
            message = "LIMIT inside an aggregate is not supported yet"
            raise QueryError(message, place(node, run), legal=known.example)
        if isinstance(arg, exp.Order):
            order, arg = tuple(arg.expressions), arg.this
        if isinstance(arg, exp.Distinct):
            distinct = True
            plain += arg.expressions
            _refuse_several(arg, node, run)
        else:
            plain.append(arg)
    return Arguments(tuple(plain), distinct=distinct, order=order)


def _written(node: Expr) -> list[Expr]:
    if isinstance(node, exp.Count) and node.args.get("this") is None:
        return []
    given = [node.args.get(name) for name in node.arg_types]
    flat = [value for part in given for value in (part if isinstance(part, list) else [part])]
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    return [value for value in flat if isinstance(value, exp.Expr)]


def _refuse_several(distinct: exp.Distinct, node: Expr, run: ast.Run) -> None:
    if isinstance(node, exp.Count) and len(distinct.expressions) > 1:
        message = "COUNT(DISTINCT …) of several columns is not supported yet"
        legal = "COUNT(DISTINCT value), or of one expression made of them"
        raise QueryError(message, place(node, run), legal=legal)


def _within(
    given: Arguments, within: exp.Order, node: Expr, known: Signature, run: ast.Run
) -> Arguments:
    """WITHIN GROUP orders what is collected; for a percentile it gives the value itself."""
    keys = tuple(within.expressions)
    name = written_name(node, run)
    if known.name in ("collect_list", "string_agg"):
        return replace(given, order=keys)
    if known.name not in (*_FRACTIONS, *_SORTED_ALIKE, "approx_percentile"):
        message = f"{name} takes no WITHIN GROUP"
        raise QueryError(message, word(node, run), legal=known.example)
    if len(keys) != 1:
        message = f"{name} is of one value"
        raise QueryError(message, place(keys[1], run), legal="WITHIN GROUP (ORDER BY value)")
    plain = known.name == "median" or (known.name != "mode" and not keys[0].args.get("desc"))
    order = () if plain else keys
    return replace(given, args=(keys[0].this, *given.args), order=order)


def _counted(args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """COUNT(*) and COUNT(1) count rows."""
    return () if len(args) == 1 and isinstance(args[0], exp.Star | exp.Literal) else args


def _refuse_star(given: Arguments, node: Expr, known: Signature, run: ast.Run) -> None:
    if given.distinct and any(isinstance(arg, exp.Star) for arg in given.args):
        message = f"{written_name(node, run)}(DISTINCT *) is not supported yet"
        raise QueryError(message, word(node, run), legal="COUNT(DISTINCT value), COUNT(*)")
    if any(isinstance(arg, exp.Star) for arg in given.args):
        message = f"{written_name(node, run)} takes {known.accepts}, not *"
        raise QueryError(message, word(node, run), legal=known.example)


# --- constants ---------------------------------------------------------------------


def _constants(given: Arguments, node: Expr, known: Signature, run: ast.Run) -> Arguments:
    """The last arguments are constants where the signature says so."""
    least, most = known.arity
    values, rest = given.args[:most], given.args[most:]
    needed = len(known.params) - len(known.defaults)
    if len(values) < least or not needed <= len(rest) <= len(known.params):
        raise _miscounted(node, known, run)
    params: list[Constant] = []
    listed = False
    for kind, arg in zip(known.params, rest, strict=False):
        several = known.listed and _is_array(arg)
        listed = listed or several
        for one in arg.expressions if several else [arg]:
            params.append(constant(one, kind, written_name(node, run), run, known.example))
    left_out = known.params[len(rest) :]
    params += _defaults(node, known)[len(known.defaults) - len(left_out) :] if left_out else ()
    return _ascending(replace(given, args=values, params=tuple(params), listed=listed), known)


def _is_array(node: Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() == "array"


def _defaults(node: Expr, known: Signature) -> tuple[Constant, ...]:
    """GROUP_CONCAT, as in MySQL, puts a comma between values."""
    # sqlglot reads STRING_AGG as GROUP_CONCAT, which the dialect leaves as it is written
    commas = isinstance(node, exp.Anonymous) and node.name.lower() == "group_concat"
    return (",",) if commas else known.defaults


def _miscounted(node: Expr, known: Signature, run: ast.Run) -> QueryError:
    least, most = known.arity
    most += len(known.params)
    least += len(known.params) - len(known.defaults)
    wants = f"{least}" if least == most else f"{least} to {most}"
    if most - least == 1:
        wants = f"{least} or {most}"
    message = f"{written_name(node, run)} takes {wants} argument{'s' * (wants != '1')}"
    return QueryError(message, word(node, run), legal=known.example)


def constant(tree: Expr, kind: Param, name: str, run: ast.Run, example: str) -> Constant:
    """The value of a literal. QueryError where it is none, or not of its kind."""
    sign = -1 if isinstance(tree, exp.Neg) else 1
    literal = tree.this if isinstance(tree, exp.Neg) else tree
    value: Constant | None = None
    if isinstance(literal, exp.Literal):
        value = literal.name if literal.is_string else sign * _number(literal, run)
    if value is None or not kind.accepts(value):
        plain = isinstance(literal, exp.Literal | exp.Column)
        written = spark(tree) if plain else "an expression"
        message = f"{name} takes {kind.value} here, not {written}"
        raise QueryError(message, place(tree, run), legal=example)
    return float(value) if kind is Param.FRACTION else value


def _number(literal: exp.Literal, run: ast.Run) -> int | float:
    try:
        value = written_number(literal.name).value
    except Refused as refused:
        raise QueryError(str(refused), place(literal, run), legal=refused.legal) from None
    return value if isinstance(value, int) else float(value)


def _ascending(given: Arguments, known: Signature) -> Arguments:
    """A sketch keeps no order: 0.9 of a descending one is 0.1 of the ascending one."""
    if known.name != "approx_percentile" or not given.order:
        return given
    mirrored = tuple(float(1 - Decimal(str(p))) for p in given.params)
    return replace(given, params=mirrored, order=())
