"""PIVOT as aggregates with conditions, by all columns that it does not name, as in Spark.

And UNPIVOT as an UNNEST of columns, with their names.

q PIVOT (SUM(v) FOR k IN (1 AS one, 2))

SELECT w, SUM(v) FILTER (WHERE k <=> 1) AS one, SUM(v) FILTER (WHERE k <=> 2) AS `2`
FROM q GROUP BY w

q UNPIVOT (v FOR k IN (a, b AS 'other'))

SELECT w, k, v FROM q CROSS JOIN UNNEST(ARRAY('a', 'other'), ARRAY(a, b)) AS t (k, v)
WHERE v IS NOT NULL
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.sql.expressions.calls import call_at
from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.relations.relation import nearest
from sqlwin.sql.sources.from_clause import bind_from
from sqlwin.sql.syntax.pivots import LEGAL
from sqlwin.sql.syntax.unnests import zipped
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import ALIAS, part, quoted

if TYPE_CHECKING:
    from sqlwin.sql.sources.known import Bind, Known


UNPIVOTED = "unpivoted"


def unturned(source: ast.From, known: Known, bind: Bind) -> ast.From:
    """What FROM reads, with a query in the place of each PIVOT."""
    joins = (replace(join, right=unturned(join.right, known, bind)) for join in source.joins)
    made = source.source
    if source.open and isinstance(made, ast.Select):
        made = replace(made, relation=unturned(made.relation, known, bind))
    elif isinstance(made, ast.Pivot):
        made = _grouped(made, known, bind)
    elif isinstance(made, ast.Unpivot):
        made = _lengthened(made, known, bind)
    return replace(source, source=made, joins=tuple(joins))


def _grouped(pivot: ast.Pivot, known: Known, bind: Bind) -> ast.Select:
    relation, window = bind_from(pivot.source, known, bind)
    named = [name.lower() for run in (*pivot.calls, pivot.column) for name in _columns(run)]
    edges = () if window is None else window.edges
    names = [*(name for name, _, _ in relation.columns), *edges]
    keys = tuple(quoted(name, pivot.span) for name in names if name.lower() not in named)
    calls = [(_plain(run), _alias(run) or run.text) for run in pivot.calls]
    made = tuple(
        _conditional(pivot.column, value, call, alias, single=len(calls) == 1)
        for value in pivot.values
        for call, alias in calls
    )
    return ast.Select((*keys, *made), pivot.source, pivot.span, group=keys)


def _lengthened(unpivot: ast.Unpivot, known: Known, bind: Bind) -> ast.Select:
    """With an UNNEST of what the columns are called, and of their values."""
    relation, window = bind_from(unpivot.source, known, bind)
    if window is not None:
        message = "UNPIVOT beside a window is not supported yet"
        raise QueryError(message, unpivot.span, legal="a window over a query with the UNPIVOT")
    names = [name for name, _, _ in relation.columns]
    taken = {_known(run, names) for runs, _ in unpivot.columns for run in runs}
    kept = tuple(quoted(name, unpivot.span) for name in names if name.lower() not in taken)
    labels = ", ".join("'" + label.replace("'", "''") + "'" for _, label in unpivot.columns)
    lists = [labels, *(", ".join(run.text for run in each) for each in _each(unpivot))]
    arrays = tuple(_run(f"ARRAY({values})", unpivot.span) for values in lists)
    made = (unpivot.name, *unpivot.values)
    function, alias = (ast.Name(text, unpivot.span) for text in ("UNNEST", UNPIVOTED))
    unnest = ast.Unnest(
        function, zipped(arrays), unpivot.span, alias=alias, columns=made, arrays=arrays
    )
    source = replace(unpivot.source, unnests=(*unpivot.source.unnests, unnest))
    columns = [f"{UNPIVOTED}.{quoted(name.text, name.span).text}" for name in made]
    present = " OR ".join(f"{column} IS NOT NULL" for column in columns[1:])
    where = None if unpivot.nulls else _run(present, unpivot.span)
    items = (*kept, *(_run(column, unpivot.span) for column in columns))
    return ast.Select(items, source, unpivot.span, where=where)


def _known(run: ast.Run, names: Sequence[str]) -> str:
    (name,) = _columns(run)
    if name.lower() not in (each.lower() for each in names):
        message = f"unknown column {name}{nearest(name, names)}"
        raise QueryError(message, run.span, legal=", ".join(names))
    return name.lower()


def _each(unpivot: ast.Unpivot) -> Iterator[tuple[ast.Run, ...]]:
    """Of each value the columns that it is made of."""
    return zip(*(runs for runs, _ in unpivot.columns), strict=True)


def _run(text: str, span: Span) -> ast.Run:
    return ast.Run(text, text, span)


def _columns(run: ast.Run) -> Sequence[str]:
    return [node.name for node in parsed(run).find_all(exp.Column)]


def _plain(run: ast.Run) -> ast.Run:
    """QueryError for what is no aggregate alone, to which a condition could be added."""
    call = call_at(parsed(run).unalias(), run)
    if call is None or call.over is not None or call.where is not None:
        raise QueryError("PIVOT has aggregates, and nothing around them", run.span, legal=LEGAL)
    return _unnamed(run)


def _conditional(
    column: ast.Run, value: ast.Run, call: ast.Run, alias: str, single: bool
) -> ast.Run:
    """Named as in Spark: by the value, and the aggregate where there are several."""
    literal = _unnamed(value)
    tree = parsed(literal)
    if tree.find(exp.Column) is not None:
        raise QueryError("PIVOT lists constants", value.span, legal=LEGAL)
    shown = tree.name if isinstance(tree, exp.Literal) else literal.text
    name = _alias(value) or shown
    name = quoted(name if single else f"{name}_{alias}", value.span).text
    text = f"{call.text} FILTER (WHERE ({column.text}) <=> ({literal.text})) AS {name}"
    return ast.Run(text, text, call.span, functions=call.functions, macros=call.macros)


def _alias(run: ast.Run) -> str:
    tree = parsed(run)
    return tree.alias if isinstance(tree, exp.Alias) else ""


def _unnamed(run: ast.Run) -> ast.Run:
    if not isinstance(parsed(run), exp.Alias):
        return run
    end = ALIAS.search(run.text)
    assert end is not None
    return part(run, 0, end.start())
