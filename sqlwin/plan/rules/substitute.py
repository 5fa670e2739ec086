"""A scalar over the columns of a Project, as one over that Project's input."""

from __future__ import annotations

from collections.abc import Mapping

import sqlglot
from sqlglot import exp

from sqlwin.plan.nodes import Scalar


def substitute(scalar: Scalar, columns: Mapping[str, Scalar]) -> Scalar:
    """`columns`: what each name stands for; every input of `scalar` is among them.

    >>> import pyarrow as pa
    >>> number = pa.int64()
    >>> twice = Scalar("2 * b", '2 * "b"', number, ("b",))
    >>> print(substitute(twice, {"b": Scalar("a + 1", '"a" + 1', number, ("a",))}).duckdb)
    2 * ("a" + 1)
    """
    if scalar.is_column:
        return columns[scalar.inputs[0]]
    inputs = [name for used in scalar.inputs for name in columns[used].inputs]
    return Scalar(
        sql=_replaced(scalar.sql, "spark", {n: s.sql for n, s in columns.items()}),
        duckdb=_replaced(scalar.duckdb, "duckdb", {n: s.duckdb for n, s in columns.items()}),
        type=scalar.type,
        inputs=tuple(dict.fromkeys(inputs)),
    )


def _replaced(text: str, dialect: str, columns: Mapping[str, str]) -> str:
    def inner(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or node.name not in columns:
            return node
        made = sqlglot.parse_one(columns[node.name], read=dialect)
        plain = isinstance(made, exp.Column | exp.Literal | exp.Func | exp.Paren)
        return made if plain or node.parent is None else exp.Paren(this=made)

    return sqlglot.parse_one(text, read=dialect).transform(inner).sql(dialect)
