"""Tree to AST: EMIT, RETAIN, EXPIRED, and durations."""

from __future__ import annotations

from typing import Any

from lark import Token, Transformer
from lark.tree import Meta
from lark.visitors import v_args

from sqlwin.errors import QueryError
from sqlwin.sql import ast, text
from sqlwin.sql.clauses import Clause
from sqlwin.sql.durations import LEGAL, micros
from sqlwin.sql.leaves import Children, key_of, meta_span, word

MOST_ROWS = 2**40
"""No count of rows is greater; message numbers stay far from the end of BIGINT."""


@v_args(meta=True)
class PolicyRules(Transformer[Token, Any]):
    def duration(self, meta: Meta, children: Children) -> ast.Duration:
        number, *unit = children
        try:
            counted = micros(text.unquoted(str(number)), str(unit[0]) if unit else None)
        except ValueError as problem:
            raise QueryError(str(problem), meta_span(meta), legal=LEGAL) from None
        return ast.Duration(counted, meta_span(meta))

    def count(self, meta: Meta, children: Children) -> ast.Count:
        digits = str(children[0])
        if not digits.isdigit():
            message = f"{digits} is not a whole number of rows"
            raise QueryError(message, meta_span(meta), legal="ROWS 100")
        if int(digits) > MOST_ROWS:
            raise QueryError(f"at most {MOST_ROWS} rows", meta_span(meta), legal="ROWS 100")
        return ast.Count(int(digits), meta_span(meta))

    def emit(self, meta: Meta, children: Children) -> Clause:
        given = [child for child in children if isinstance(child, Clause)]
        return Clause("EMIT", given, word(meta, "EMIT"))

    def early(self, meta: Meta, children: Children) -> Clause:
        return _refused("EARLY", "EMIT EARLY", meta)

    def on_close(self, meta: Meta, children: Children) -> Clause:
        timeout = next((c for c in children if isinstance(c, ast.Name)), None)
        if timeout is not None:
            return Clause("ON CLOSE", timeout, meta_span(meta))
        if any(isinstance(c, Token) and c.type == "WINDOW_WORD" for c in children):
            return Clause("FINAL", None, meta_span(meta))
        return Clause("ON CLOSE", None, meta_span(meta))

    def timeout(self, meta: Meta, children: Children) -> ast.Name:
        return ast.Name("EMIT ON CLOSE TIMEOUT", word(meta, "TIMEOUT"))

    def late(self, meta: Meta, children: Children) -> Clause:
        given = children[-1]
        if isinstance(given, ast.Duration):
            late = ast.Late("EVERY", given.micros, meta_span(meta))
        else:
            late = ast.Late(key_of(given), None, meta_span(meta))
        return Clause("LATE", late, meta_span(meta))

    def changes(self, meta: Meta, children: Children) -> Clause:
        return _refused("CHANGES", "EMIT CHANGES", meta)

    def final(self, meta: Meta, children: Children) -> Clause:
        return Clause("FINAL", None, meta_span(meta))

    def retain(self, meta: Meta, children: Children) -> Clause:
        rows = next((c for c in children if isinstance(c, ast.Count)), None)
        span = word(meta, "RETAIN")
        value: Any = (
            ast.Name("RETAIN n ROWS", rows.span)
            if rows
            else next(c for c in children if isinstance(c, ast.Duration))
        )
        if rows is None and len([c for c in children if isinstance(c, ast.Duration)]) > 1:
            raise QueryError("RETAIN takes one duration", meta_span(meta), legal="RETAIN 1 HOUR")
        return Clause("RETAIN", [Clause("RETAIN", value, span)], span)

    def expired(self, meta: Meta, children: Children) -> Clause:
        span = word(meta, "EXPIRED")
        name = ast.Name(key_of(children[0]), span)
        return Clause("EXPIRED", [Clause("EXPIRED", name, span)], span)


def _refused(word_: str, what: str, meta: Meta) -> Clause:
    return Clause(word_, ast.Name(what, meta_span(meta)), meta_span(meta))
