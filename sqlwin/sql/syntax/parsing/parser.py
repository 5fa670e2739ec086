"""Text to AST by the grammar, which is read once; its tables are kept in the user's cache.

The grammar lies in `grammar/` of a checkout and in `sqlwin/grammar/` of an
installed wheel.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import lark
from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput, VisitError

from sqlwin.errors import QueryError
from sqlwin.python_functions.function import UserFunction
from sqlwin.sql.syntax.build import Build
from sqlwin.sql.syntax.parsing.grammar_tables import OPTIONS, parser_of, tables
from sqlwin.sql.text import ast
from sqlwin.system import user_cache

STARTS = ("start", "query", "window_call", "duration")


def grammar_folder() -> Path:
    installed = Path(str(files("sqlwin") / "grammar"))
    return installed if installed.is_dir() else Path(__file__).parents[4] / "grammar"


@lru_cache(maxsize=1)
def grammar() -> Lark:
    text = (grammar_folder() / "sqlwin.lark").read_text("utf-8")
    made_by = user_cache.key(text, repr((STARTS, OPTIONS)), lark.__version__, sys.version)
    kept = user_cache.kept(f"grammar-{made_by}.tables", lambda: tables(text, STARTS))
    return parser_of(kept)


def statements(text: str, functions: Sequence[UserFunction] = ()) -> list[ast.Statement]:
    """Every statement of `text`; QueryError at the first place that is none.

    functions: those that its expressions may call beside SQL's own.
    """
    return _parsed(text, "start", tuple(functions))  # type: ignore[return-value]


def window_call(run: ast.Run) -> ast.WindowCall:
    """A window function's call in GROUP BY, with its places in the whole text."""
    return _parsed(_in_place(run), "window_call", run.functions, run.macros)  # type: ignore[return-value]


def query(run: ast.Run) -> ast.Select:
    """A query in an expression, with its places in the whole text."""
    return _parsed(_in_place(run), "query", run.functions, run.macros)  # type: ignore[return-value]


def duration(run: ast.Run) -> ast.Duration | None:
    """The duration that a run is, None where it is any other expression.

    QueryError for what looks like one and is none: `'5 fortnights'`.
    """
    try:
        tree = grammar().parse(_in_place(run), start="duration")
    except UnexpectedInput:
        return None
    return _built(tree, run.original)  # type: ignore[return-value]


def _in_place(run: ast.Run) -> str:
    """The run's text where it stands in the whole one."""
    return "\n" * (run.span.line - 1) + " " * (run.span.column - 1) + run.original


def _parsed(
    text: str,
    start: str,
    functions: tuple[UserFunction, ...] = (),
    macros: tuple[ast.Macro, ...] = (),
) -> object:
    try:
        tree = grammar().parse(text, start=start)
    except UnexpectedInput as unexpected:
        from sqlwin.sql.syntax.parsing.mistakes import explained  # by need

        raise explained(unexpected, text, grammar(), grammar_folder(), start) from None
    return _built(tree, text, functions, macros)


def _built(
    tree: Tree[Token],
    text: str,
    functions: tuple[UserFunction, ...] = (),
    macros: tuple[ast.Macro, ...] = (),
) -> object:
    try:
        return Build(text, functions, query, macros).transform(tree)
    except VisitError as failed:
        if isinstance(failed.orig_exc, QueryError):
            raise failed.orig_exc from None
        raise
