"""What DuckDB reads in a text: checked before the text is bound or run.

`json_serialize_sql` gives DuckDB's own tree without binding it. A text passes if it is one
SELECT over the table `rows` of nothing but expressions, and if all functions it calls are
pure: their values depend on their arguments alone, and what they read is their arguments.

The tree is searched as text, since it may be deeper than Python recurses. A quote within a
string of JSON has a backslash before it, so that `,"class":` is never a part of one.

>>> sorted(calls('SELECT abs("a" + 1) AS x FROM rows'))
['+', 'abs']
>>> calls('SELECT (FROM query("SELECT 1")) AS x FROM rows')
Traceback (most recent call last):
sqlwin.sandbox.tree.Forbidden: not an expression over rows: another relation
>>> calls("SELECT current_setting('threads') AS x FROM rows")
Traceback (most recent call last):
sqlwin.sandbox.tree.Forbidden: not a function of its arguments alone: current_setting
"""

from __future__ import annotations

import re
from functools import lru_cache

from sqlwin.functions.core.vectors import PREFIX
from sqlwin.sandbox.bounds import HEAVY
from sqlwin.sandbox.locked import binding
from sqlwin.sandbox.pure import PURE

CLASSES = frozenset(
    (
        *("CONSTANT", "COLUMN_REF", "FUNCTION", "CAST", "TYPE", "CASE", "OPERATOR"),
        *("COMPARISON", "CONJUNCTION", "BETWEEN", "LAMBDA", "LAMBDA_REF"),
    )
)
"""Of DuckDB's expressions. SUBQUERY, WINDOW, STAR, PARAMETER, COLLATE and others are not here."""
_CLASS = re.compile(r'[{,]"class":"(\w+)"')
_CALLED = re.compile(r'[{,]"function_name":"((?:[^"\\]|\\.)*)"')
_NODE = re.compile(r'[{,]"node":\{"type":"(\w+)"')
_TABLE = re.compile(r'[{,]"from_table":\{"type":"(\w+)"')
_NAMED = re.compile(r'[{,]"table_name":"((?:[^"\\]|\\.)*)"')
_ELSEWHERE = re.compile(
    r'[{,](?:"function_name":"(\w+)",)?"(?:schema|catalog|schema_name|catalog_name)":"([^"]+)"'
)
_MAIN = "main"
"""The schema that DuckDB 1.5 names where a function is written as syntax: `[1, 2]`, TRIM. What
`bounds` hides is in another."""
_CLAUSE = re.compile(
    r'[{,]"(modifiers|map|group_expressions|group_sets|having|sample|qualify)":(?!\[\]|null)'
)
_COLUMN = re.compile(r'[{,]"column_names":\["((?:[^"\\]|\\.)*)"\]')
VALUES = frozenset(
    (
        *("current_catalog", "current_date", "current_role", "current_schema", "current_time"),
        *("current_timestamp", "current_user", "localtime", "localtimestamp", "session_user"),
        *("user", "rowid"),
    )
)
"""Names that DuckDB reads as values of the session where no column is called so."""


class Forbidden(Exception):
    """A text that is not to be run."""


@lru_cache(maxsize=4096)
def calls(sql: str, columns: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The functions that a text calls, one for each call. Forbidden where it is no such text.

    columns: those of VALUES that are columns of `rows`.

    What DuckDB cannot read passes: it cannot run it either, and says better why.
    """
    ((tree,),) = binding().execute("SELECT json_serialize_sql(?)", [sql]).fetchall()
    if tree.startswith('{"error":true'):
        if '"error_type":"parser"' in tree:
            return ()
        raise Forbidden("not an expression over rows: a statement")
    _one_select(tree)
    for found in _CLASS.findall(tree):
        if found not in CLASSES:
            raise Forbidden(f"not an expression over rows: {found}")
    for name in _COLUMN.findall(tree):
        if name.lower() in VALUES - columns:
            raise Forbidden(f"not a column of rows: {name}")
    called = tuple(name.lower() for name in _CALLED.findall(tree))
    for name in called:
        if name not in PURE and not name.startswith(PREFIX):
            raise Forbidden(f"not a function of its arguments alone: {name}")
    return called


def _one_select(tree: str) -> None:
    one = _NODE.findall(tree), _TABLE.findall(tree), _NAMED.findall(tree)
    if one != (["SELECT_NODE"], ["BASE_TABLE"], ["rows"]):
        raise Forbidden("not an expression over rows: another relation")
    found = _ELSEWHERE.findall(tree)
    named = [where for name, where in found if where != _MAIN or name not in PURE - HEAVY]
    for other in (*named, *_CLAUSE.findall(tree)):
        raise Forbidden(f"not an expression over rows: {other}")
