"""The refusal of an aggregate with too few or too many arguments."""

from __future__ import annotations

from sqlwin.aggregates import Signature
from sqlwin.errors import QueryError
from sqlwin.sql.expressions.places import word, written_name
from sqlwin.sql.expressions.scalars import Expr
from sqlwin.sql.text import ast


def miscounted(node: Expr, known: Signature, run: ast.Run) -> QueryError:
    least, most = known.arity
    most += len(known.params)
    least += len(known.params) - len(known.defaults)
    wants = f"{least}" if least == most else f"{least} to {most}"
    if most - least == 1:
        wants = f"{least} or {most}"
    message = f"{written_name(node, run)} takes {wants} argument{'s' * (wants != '1')}"
    legal = _SEVERAL.get(written_name(node, run).lower(), known.example)
    return QueryError(message, word(node, run), legal=legal)


_SEVERAL = {
    "earliest_by_offset": "COLLECT_LIST(value LIMIT 3)",
    "latest_by_offset": "REVERSE(COLLECT_LIST(value ORDER BY ts DESC LIMIT 3))",
}
"""Of more than one value, as ksqlDB has them."""
