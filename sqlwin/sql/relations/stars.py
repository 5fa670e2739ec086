"""What stands behind `*`: `EXCEPT (a)`, `REPLACE (a + 1 AS b)`, `RENAME (a AS b)`.

A column of REPLACE stays in its place, with another value; one of RENAME with another name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.names import nearest
from sqlwin.sql.expressions.places import place
from sqlwin.sql.expressions.scalars import Expr
from sqlwin.sql.text import ast

_WORDS = {"except_": "EXCEPT", "replace": "REPLACE", "rename": "RENAME"}


@dataclass(frozen=True)
class Star:
    """Columns by their names in lower case."""

    left_out: frozenset[str] = frozenset()
    values: dict[str, Expr] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def column(self, name: str, value: Expr) -> tuple[str, Expr] | None:
        """What the column is in the result, with its name; None where it is left out."""
        lower = name.lower()
        if lower in self.left_out:
            return None
        return self.names.get(lower, name), self.values.get(lower, value)


def star(node: exp.Star, run: ast.Run, names: Sequence[str]) -> Star:
    """names: of the columns that `*` has. QueryError for those that it has not."""
    for word, given in node.args.items():
        if given and word not in _WORDS:
            message = f"* {word.upper()} is not supported yet"
            raise QueryError(message, run.span, legal="* EXCEPT (a, b), and more columns beside it")
    made = Star(
        frozenset(_known(each, run, names) for each in node.args.get("except_") or ()),
        {
            _known(each.args["alias"], run, names, "REPLACE"): each.this
            for each in _aliased(node, "replace", run)
        },
        {
            _known(each.this, run, names, "RENAME"): each.alias
            for each in _aliased(node, "rename", run)
        },
    )
    if len(made.left_out) == len(names):
        raise QueryError("EXCEPT leaves no column", run.span, legal=", ".join(names))
    return made


def _aliased(node: exp.Star, word: str, run: ast.Run) -> list[exp.Alias]:
    given = node.args.get(word) or []
    if not all(isinstance(each, exp.Alias) for each in given):
        legal = "* REPLACE (a + 1 AS a)" if word == "replace" else "* RENAME (a AS b)"
        raise QueryError(f"{_WORDS[word]} needs AS and a name", run.span, legal=legal)
    return given


def _known(node: Expr, run: ast.Run, names: Sequence[str], word: str = "") -> str:
    """word: of what takes one column, where a join has several of a name."""
    lower = [name.lower() for name in names]
    if node.name.lower() not in lower:
        message = f"unknown column {node.name}{nearest(node.name, names)}"
        raise QueryError(message, _place(node, run), legal=", ".join(names))
    if word and lower.count(node.name.lower()) > 1:
        message = f"two columns are called {node.name}, and {word} is of one"
        raise QueryError(message, _place(node, run), legal="a SELECT with columns by their names")
    return node.name.lower()


def _place(node: Expr, run: ast.Run) -> Span:
    if isinstance(run, ast.Led) and run.column is not None:
        return run.column.span
    return place(node, run)
