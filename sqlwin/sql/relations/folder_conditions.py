"""What WHERE says of the folders of a partitioned source: conditions over their columns alone.

`WHERE day >= DATE '2024-01-05' AND fare > 3` of rides that are partitioned by day says
`day >= DATE '2024-01-05'` of a folder. WHERE stays as it is; where the condition is not true of a
folder, it is true of none of its rows.
"""

from __future__ import annotations

from sqlglot import exp

from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.options.connectors import PARTITIONED
from sqlwin.plan.options.table_options import key_columns
from sqlwin.plan.options.tuning import RELOAD
from sqlwin.sql.expressions.scalars import Expr, inputs
from sqlwin.sql.expressions.trees import copied
from sqlwin.sql.expressions.volatile import volatility
from sqlwin.sql.relations.rank_bounds import conjuncts


def folder_condition(stream: Stream, predicate: Expr) -> Expr | None:
    """None where a predicate over the columns of the stream says nothing of its folders."""
    columns = folder_columns(stream)
    parts = [copied(part) for part in conjuncts(predicate) if columns and _of(part, columns)]
    return exp.and_(*parts) if parts else None


def folder_columns(stream: Stream) -> frozenset[str]:
    """Those whose values are names of folders, as the stream spells them; of a table that is read
    again none, for what has changed is found by all of its rows."""
    options = dict(stream.options)
    if PARTITIONED not in options or RELOAD in options:
        return frozenset()
    names = {name.lower() for name in key_columns(options[PARTITIONED])}
    return frozenset(each.name for each in stream.columns if each.name.lower() in names)


def _of(part: Expr, columns: frozenset[str]) -> bool:
    """Whether a conjunct reads columns of folders, nothing else, and no clock."""
    read = frozenset(inputs(part))
    return bool(read) and read <= columns and not any(map(volatility, part.walk()))
