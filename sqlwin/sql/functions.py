"""Functions that people paste from Flink and Spark and DuckDB calls otherwise.

Everything else sqlglot translates. One table: name in capitals to a function of
the arguments.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from sqlwin.sql.trees import rewritten

Expr = exp.Expr
Rewrite = Callable[[list[Expr]], Expr | None]


def _instant(scale: int) -> Rewrite:
    """Microseconds since the epoch are `scale` times the argument."""

    def rewrite(args: list[Expr]) -> Expr | None:
        return _from_epoch(args[0], scale) if len(args) == 1 else None

    return rewrite


def _from_epoch(value: Expr, scale: int) -> Expr:
    # The engine multiplies in the wider type, and INT is too narrow.
    wide = exp.cast(exp.Literal.number(scale), "BIGINT")
    product = exp.Mul(this=exp.Paren(this=value), expression=wide)
    micros = exp.cast(exp.Paren(this=product), "BIGINT")
    return exp.cast(exp.Anonymous(this="MAKE_TIMESTAMP", expressions=[micros]), "TIMESTAMPTZ")


def _timestamp_ltz(args: list[Expr]) -> Expr | None:
    """Flink: TO_TIMESTAMP_LTZ(epoch, precision), precision 0 for seconds, 3 for milliseconds."""
    precision = args[1].name if len(args) == 2 else "3"
    if not args or precision not in ("0", "3", "6"):
        return None
    return _from_epoch(args[0], 10 ** (6 - int(precision)))


def _called(function: str, count: int) -> Rewrite:
    """The same arguments, another name."""

    def rewrite(args: list[Expr]) -> Expr | None:
        call = exp.Anonymous(this=function, expressions=args)
        return call if len(args) == count else None

    return rewrite


REWRITES: dict[str, Rewrite] = {
    "TO_TIMESTAMP_LTZ": _timestamp_ltz,
    "TIMESTAMP_SECONDS": _instant(1_000_000),
    "TIMESTAMP_MILLIS": _instant(1_000),
    "TIMESTAMP_MICROS": _instant(1),
    "CARDINALITY": _called("LEN", 1),
    "ARRAYS_OVERLAP": _called("LIST_HAS_ANY", 2),
}


def _escaped(node: exp.Like | exp.ILike) -> Expr:
    """A pattern's backslash takes the next character as it is, for which DuckDB wants ESCAPE."""
    pattern = node.expression
    if isinstance(pattern, exp.Literal) and "\\" not in pattern.name:
        return node
    inner = rewritten(node.this, for_duckdb), rewritten(pattern, for_duckdb)
    like = type(node)(this=inner[0], expression=inner[1], negate=node.args.get("negate"))
    return exp.Escape(this=like, expression=exp.Literal.string("\\"))


def for_duckdb(node: Expr) -> Expr:
    """For `transform`, which does not go into what is new: arguments are rewritten here."""
    if isinstance(node, exp.Anonymous) and node.name.upper() in REWRITES:
        args = [rewritten(arg, for_duckdb) for arg in node.expressions]
        return REWRITES[node.name.upper()](args) or node
    if isinstance(node, exp.UnixSeconds):
        # EPOCH has a fraction, and CAST would round it.
        seconds = exp.Anonymous(this="EPOCH", expressions=[rewritten(node.this, for_duckdb)])
        return exp.cast(exp.Floor(this=seconds), "BIGINT")
    if isinstance(node, exp.Like | exp.ILike) and not isinstance(node.parent, exp.Escape):
        return _escaped(node)
    return node
