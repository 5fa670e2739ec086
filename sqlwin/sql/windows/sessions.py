"""Sessions as they are written, and the columns below the window that they go by.

A gap in brackets is an expression of the row, and START WHEN and END WHEN are
conditions of it, so that a session stays an `OpenSession` until the Project below
the window is made: there its gap becomes a BIGINT of microseconds. A row whose gap
is NULL, not positive, without a fixed length or no interval fails that expression,
and goes to the error stream as others that fail do.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.functions.core.types import NULL, STRING, engine_name, is_interval
from sqlwin.functions.times.gaps import GAP
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Scalar
from sqlwin.schema import Schema
from sqlwin.sql.expressions.calls import refuse_calls
from sqlwin.sql.expressions.scalars import Expr, expression_type, parsed, scalar, spark
from sqlwin.sql.relations.below import Below
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.syntax.parsing.parser import duration
from sqlwin.sql.text import ast
from sqlwin.windows import Unit
from sqlwin.windows.session import Session

LEGAL = "SESSION INTERVAL '30' MINUTE GAP, SESSION 100 ROWS GAP"
EXPRESSION = "SESSION (CASE WHEN product = 'tea' THEN '5 seconds' ELSE '2 minutes' END) GAP"


@dataclass(frozen=True)
class OpenSession:
    """Its columns are not computed yet. gap: microseconds, messages, or an expression."""

    gap: int | ast.Run
    unit: Unit = Unit.RANGE
    most: int | None = None
    starts: ast.Run | None = None
    ends: ast.Run | None = None

    @property
    def constant(self) -> int | None:
        """The gap, where it is the same for all rows."""
        return self.gap if isinstance(self.gap, int) else None

    def closed(self, below: Below) -> Session:
        """The session over columns that it adds to those below the window."""
        return Session(
            gap=self.constant,
            unit=self.unit,
            most=self.most,
            gap_by=None if isinstance(self.gap, int) else _gap_by(below, self.gap),
            starts=_condition(below, self.starts, "start"),
            ends=_condition(below, self.ends, "end"),
        )


def session(given: ast.SessionSpec) -> OpenSession:
    """QueryError where a gap of time or MAX is not greater than 0."""
    gap = given.gap
    if isinstance(gap, ast.Count):
        return _of_messages(given, gap)
    if isinstance(gap, ast.Run):
        gap = duration(gap) or gap
    for what, length in (("gap", gap), ("MAX", given.most)):
        if isinstance(length, ast.Duration) and length.micros <= 0:
            message = f"a session's {what} must be greater than 0"
            raise QueryError(message, length.span, legal=LEGAL)
    return OpenSession(
        gap.micros if isinstance(gap, ast.Duration) else gap,
        most=None if given.most is None else given.most.micros,
        starts=given.starts,
        ends=given.ends,
    )


def _of_messages(given: ast.SessionSpec, gap: ast.Count) -> OpenSession:
    parts = (("MAX", given.most), ("START WHEN", given.starts), ("END WHEN", given.ends))
    for what, part in parts:
        if part is not None:
            message = f"a session in ROWS ends by its gap alone and takes no {what}"
            raise QueryError(message, part.span, legal=f"SESSION INTERVAL '30' MINUTE GAP {what} …")
    return OpenSession(gap.rows, Unit.ROWS)


def _gap_by(below: Below, run: ast.Run) -> str:
    relation, tree = below.relation, _resolved(below, run, "the gap of a session")
    return below.put(microseconds(relation.below(tree), relation.under, run), "gap")


def _condition(below: Below, run: ast.Run | None, purpose: str) -> str | None:
    if run is None:
        return None
    return below.condition(_resolved(below, run, f"{purpose.upper()} WHEN"), run, purpose)


def _resolved(below: Below, run: ast.Run, where: str) -> Expr:
    tree = parsed(run)
    refuse_calls(tree, run, where)
    return Scope(below.relation).resolved(tree, run)


def microseconds(tree: Expr, schema: Schema, run: ast.Run) -> Scalar:
    """People are shown the gap as it was written."""
    type_ = expression_type(tree, schema, run)
    if type_ != STRING and not (is_interval(type_) and not type_.is_months):
        type_text = "NULL" if type_ == NULL else engine_name(type_)
        message = f"the gap of a session is an INTERVAL or a STRING, this is {type_text}"
        raise QueryError(message, run.span, legal=EXPRESSION)
    checked = exp.Anonymous(this=GAP, expressions=[tree.copy()])
    return replace(scalar(checked, schema, run), sql=spark(tree))
