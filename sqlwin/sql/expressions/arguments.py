"""The arguments of a call: values, constants, DISTINCT and ORDER BY, each in its place.

`STRING_AGG(DISTINCT x, ',' ORDER BY y)`, `LISTAGG(x, ',') WITHIN GROUP (ORDER BY y)`,
`PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)` and `PERCENTILE(x, 0.5)` leave
this module with values, constants and an order apart.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from sqlglot import exp

from sqlwin.aggregates import Param, Signature
from sqlwin.errors import QueryError
from sqlwin.functions.core.literals import written_number
from sqlwin.functions.core.typed import Refused
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.expressions.compile.atoms import hex_bytes
from sqlwin.sql.expressions.folding import number_of
from sqlwin.sql.expressions.places import place, word, written_name
from sqlwin.sql.expressions.scalars import Expr, not_null, spark
from sqlwin.sql.expressions.trees import copied
from sqlwin.sql.text import ast

Constant = int | float | str | bytes
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
    limit: int | None = None


def arguments(
    node: Expr, known: Signature, run: ast.Run, within: exp.Order | None = None
) -> Arguments:
    """`within`: of WITHIN GROUP (ORDER BY …)."""
    given = _bound(node, run, known)
    if within is not None:
        given = _within(given, within, node, known, run)
    if known.name == "count":
        given = _counted(given)
    _refuse_star(given, node, known, run)
    if given.order and within is None and not known.sorts:
        by_time = known.name in ("nth_value", "nth_last")
        why = "its rows go by event time" if by_time else "no order changes its value"
        message = f"{written_name(node, run)} takes no ORDER BY: {why}"
        raise QueryError(message, place(given.order[0], run), legal=known.example)
    if known.name == "mode" and len(given.args) == 2 and within is None:
        given = _determined(given, node, run)
    return _constants(given, node, known, run)


def _bound(node: Expr, run: ast.Run, known: Signature) -> Arguments:
    """All that stands in the brackets, in the order written."""
    plain: list[Expr] = []
    order: tuple[exp.Ordered, ...] = ()
    distinct = False
    limit: int | None = None
    for arg in _written(node):
        if isinstance(arg, exp.Limit):
            limit, arg = _limit(arg, node, run, known), arg.this
        if isinstance(arg, exp.Order):
            order, arg = tuple(arg.expressions), arg.this
        if isinstance(arg, exp.Distinct):
            if not arg.expressions:
                name = written_name(node, run)
                message = f"{name}(DISTINCT) says nothing of what is to be distinct"
                raise QueryError(message, place(node, run), legal=f"{name}(DISTINCT value)")
            distinct = True
            plain += arg.expressions
        else:
            plain.append(arg)
    return Arguments(tuple(plain), distinct=distinct, order=order, limit=limit)


def _limit(limit: exp.Limit, node: Expr, run: ast.Run, known: Signature) -> int:
    name = written_name(node, run)
    if not known.limits:
        message = f"{name} takes no LIMIT: it is of all rows"
        legal = "COLLECT_LIST(value ORDER BY name LIMIT 3), or FILTER (WHERE …)"
        raise QueryError(message, place(limit.expression, run), legal=legal)
    example = f"{name}(value ORDER BY name LIMIT 3)"
    found = constant(limit.expression, Param.COUNT, f"LIMIT in {name}", run, example)
    return int(found)


def _written(node: Expr) -> list[Expr]:
    if isinstance(node, exp.Count) and node.args.get("this") is None:
        return []
    given = [node.args.get(name) for name in node.arg_types]
    flat = [value for part in given for value in (part if isinstance(part, list) else [part])]
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    return [value for value in flat if isinstance(value, exp.Expr)]


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


def _counted(given: Arguments) -> Arguments:
    """COUNT(*) and COUNT(1) count rows; of several arguments, rows in which none is NULL."""
    args = given.args
    if len(args) > 1 and not any(isinstance(arg, exp.Star) for arg in args):
        known = exp.and_(*(not_null(arg) for arg in args))
        whole = exp.Anonymous(this="struct", expressions=[copied(arg) for arg in args])
        return replace(given, args=(exp.If(this=known, true=whole),))
    if given.distinct or len(args) != 1 or isinstance(args[0], exp.Null):
        return given
    return replace(given, args=()) if isinstance(args[0], exp.Star | exp.Literal) else given


def _determined(given: Arguments, node: Expr, run: ast.Run) -> Arguments:
    """MODE(x, true) is the least of the most frequent values."""
    value, flag = given.args
    if not isinstance(flag, exp.Boolean):
        message = f"{written_name(node, run)} takes TRUE or FALSE behind its value"
        raise QueryError(message, place(flag, run), legal="MODE(value, TRUE), MODE(value)")
    order = (exp.Ordered(this=value),) if flag.this else ()
    return replace(given, args=(value,), order=order)


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
        from sqlwin.sql.expressions.miscounted import miscounted  # by need

        raise miscounted(node, known, run)
    params: list[Constant] = []
    listed = False
    example = f"{written_name(node, run)}(name, value, 3)" if known.several else known.example
    for kind, arg in zip(known.params, rest, strict=False):
        several = known.listed and kind is Param.FRACTION and _is_array(arg)
        listed = listed or several
        for one in arg.expressions if several else [arg]:
            params.append(constant(one, kind, written_name(node, run), run, example))
    left_out = known.params[len(rest) :]
    defaults = _defaults(node, known)[len(known.defaults) - len(left_out) :] if left_out else ()
    params += (default for default in defaults if default is not None)
    listed = listed or (known.several and bool(params))
    return _ascending(replace(given, args=values, params=tuple(params), listed=listed), known)


def _is_array(node: Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() == "array"


def _defaults(node: Expr, known: Signature) -> tuple[Constant | None, ...]:
    """GROUP_CONCAT, as in MySQL, puts a comma between values."""
    commas = isinstance(node, exp.Anonymous) and node.name.lower() == "group_concat"
    return (",",) if commas else known.defaults


def constant(tree: Expr, kind: Param, name: str, run: ast.Run, example: str) -> Constant:
    """The value of a literal. QueryError where it is none, or not of its kind."""
    if kind is Param.TEXT and isinstance(tree, exp.Null):
        return ""
    if kind is Param.FLAG and isinstance(tree, exp.Boolean):
        return bool(tree.this)
    computed = number_of(tree)
    if computed is not None:
        exact = computed == computed.to_integral_value()
        number: Constant = int(computed) if exact else float(computed)
        if kind.accepts(number):
            return float(number) if kind in (Param.FRACTION, Param.ERROR) else number
    sign = -1 if isinstance(tree, exp.Neg) else 1
    literal = tree.this if isinstance(tree, exp.Neg) else tree
    value: Constant | None = None
    if isinstance(literal, exp.Literal):
        value = literal.name if literal.is_string else sign * _number(literal, run)
    elif isinstance(tree, exp.HexString):
        value = hex_bytes(tree)
    if value is None or not kind.accepts(value):
        plain = isinstance(literal, exp.Literal | exp.Column)
        written = spark(tree) if plain else "an expression"
        message = f"{name} takes {kind.value} here, not {written}"
        raise QueryError(message, place(tree, run), legal=example)
    return float(value) if kind in (Param.FRACTION, Param.ERROR) else value


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
    params = given.params
    mirrored = (float(1 - Decimal(str(p))) if isinstance(p, float) else p for p in params)
    return replace(given, params=tuple(mirrored), order=())
