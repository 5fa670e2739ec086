"""ORDER BY and LIMIT at the top of a SELECT: a look at its final table, once the input has ended.

In a script the two keep the first rows of a result true as it changes. Of the shell it is asked
once, over input that ends: the query runs without them, and the last revisions of its results are
sorted and cut.

>>> bare, clause = look("SELECT a FROM s ORDER BY a DESC LIMIT 3")
>>> bare.rstrip(), clause.text, clause.at
('SELECT a FROM s', 'ORDER BY a DESC LIMIT 3', 16)
>>> look("SELECT a, ROW_NUMBER() OVER (ORDER BY a) AS n FROM s")[1] is None
True
"""

from __future__ import annotations

import re

import duckdb
import polars as pl
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlwin.embedded.output_buffer import fold
from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sandbox.locked import locked
from sqlwin.schema import CHANGELOG_NAMES, Schema
from sqlwin.sql.text.prepared import QUOTED, blanked, span

_PIECE = re.compile(
    rf"{QUOTED}|--[^\n]*|/\*.*?\*/|(?P<open>[(\[])|(?P<close>[)\]])"
    r"|(?P<kept>\bDISTINCT\s+ON\b)"
    r"|(?P<clause>\b(?:ORDER\s+BY|LIMIT(?=\s+(?:\d|ALL\b))|FETCH(?=\s+(?:FIRST|NEXT))|OFFSET(?=\s+\d))\b)",
    re.DOTALL | re.IGNORECASE,
)
LEGAL = "ORDER BY total DESC LIMIT 10, of columns of the result"
_QUERY = re.compile(r"\s*(?:SELECT|WITH)\b", re.IGNORECASE)
RESULT = "result"


@dataclass(frozen=True)
class Clause:
    """text: of a statement, from its character `at` on."""

    text: str
    at: int


def look(statement: str) -> tuple[str, Clause | None]:
    """The statement with blanks in the place of its last clauses, and these; of a query alone."""
    at = _begin(statement) if _QUERY.match(blanked(statement)) else None
    if at is None:
        return statement, None
    clause = Clause(statement[at:].rstrip(), at)
    return statement[:at] + re.sub(r"[^\n]", " ", statement[at:]), clause


def _begin(statement: str) -> int | None:
    depth = 0
    for piece in _PIECE.finditer(statement):
        depth += (piece["open"] is not None) - (piece["close"] is not None)
        if piece["kept"] and depth == 0:
            return None  # its ORDER BY says which rows it keeps
        if piece["clause"] and depth == 0:
            return piece.start()
    return None


def checked(clause: Clause, statement: str, columns: Schema) -> str:
    """What DuckDB runs over the results. QueryError for a clause that cannot be."""
    place = span(statement, clause.at, clause.at + len(clause.text))
    names = {column.name.lower(): column.name for column in columns}
    try:
        tree = sqlglot.parse_one(f"SELECT * FROM {RESULT} {clause.text}", read="spark")
    except SqlglotError:
        message = "ORDER BY and LIMIT stand behind everything else here"
        raise QueryError(message, place, statement, LEGAL) from None
    for column in tree.find_all(exp.Column):
        known = names.get(column.name.lower())
        if known is None:
            message = f"{column.name} is no column of the result"
            raise QueryError(message, place, statement, ", ".join(names.values()))
        column.replace(exp.column(exp.to_identifier(known, quoted=True)))
    return tree.sql("duckdb")


def final(emitted: list[pl.DataFrame], wanted: str, statement: str) -> pl.DataFrame:
    """The last revisions of what was emitted, sorted and cut."""
    last = fold(pl.concat(emitted)).filter(pl.col("op") != "-D")
    shown = last.drop(*CHANGELOG_NAMES.values(), "row_key", strict=False)
    with locked() as db:
        db.register(RESULT, shown.to_arrow())
        try:
            return pl.from_arrow(db.sql(wanted).to_arrow_table())  # type: ignore[return-value]
        except duckdb.Error as error:
            why = str(error).splitlines()[0]
            raise QueryError(
                f"the results cannot be sorted: {why}", None, statement, LEGAL
            ) from None
