"""Tree to AST: EMIT, RETAIN, RETENTION, EXPIRED, and durations."""

from __future__ import annotations

from typing import Any

from lark import Token, Transformer
from lark.tree import Meta
from lark.visitors import v_args

from sqlwin.durations import LEGAL, micros, months
from sqlwin.errors import QueryError
from sqlwin.sql.syntax.clauses import Clause
from sqlwin.sql.syntax.leaves import Children, found, key_of, meta_span, named, word
from sqlwin.sql.text import ast, prepared

MOST_ROWS = 2**40
"""No count of rows is greater; message numbers stay far from the end of BIGINT."""


@v_args(meta=True)
class PolicyRules(Transformer[Token, Any]):
    def duration(self, meta: Meta, children: Children) -> ast.Duration:
        """One without a fixed length, and another text, its reader takes or refuses."""
        written, *units = children
        number, unit = prepared.unquoted(str(written)), str(units[0]) if units else None
        span = meta_span(meta)
        try:
            return ast.Duration(micros(number, unit), span)
        except ValueError as error:
            problem = str(error)
        bare = meta.end_pos - meta.start_pos == len(str(written))
        of_months = months(number, unit)
        text = number if bare and of_months is None and number[:1].isalpha() else None
        if of_months is None and text is None:
            raise QueryError(problem, span, legal=LEGAL)
        return ast.Duration(None, span, of_months, text, problem)

    def count(self, meta: Meta, children: Children) -> ast.Count:
        digits = str(children[0])
        if not digits.isdecimal():
            message = f"{digits} is not a whole number of rows"
            raise QueryError(message, meta_span(meta), legal="ROWS 100")
        if int(digits) > MOST_ROWS:
            raise QueryError(f"at most {MOST_ROWS} rows", meta_span(meta), legal="ROWS 100")
        return ast.Count(int(digits), meta_span(meta))

    def emit(self, meta: Meta, children: Children) -> Clause:
        given = [child for child in children if isinstance(child, Clause)]
        return Clause("EMIT", given, word(meta, "EMIT"))

    def early(self, meta: Meta, children: Children) -> Clause:
        once = any(isinstance(c, Token) and c.type == "ONCE" for c in children)
        every, rows = found(children, ast.Duration), found(children, ast.Count)
        amounts = [c for c in children if isinstance(c, ast.Duration | ast.Count)]
        if len(amounts) > 1 and (every is None or rows is None):
            message = f"EARLY EVERY takes one {'duration' if rows is None else 'number of rows'}"
            legal = "EARLY EVERY INTERVAL '10' SECOND OR 100 ROWS"
            raise QueryError(message, amounts[1].span, legal=legal)
        return Clause("EARLY", ast.Early(every, rows, once), meta_span(meta))

    def on_close(self, meta: Meta, children: Children) -> Clause:
        timeout = found(children, ast.Duration)
        final = any(isinstance(c, Token) and c.type == "WINDOW_WORD" for c in children)
        return Clause("FINAL" if final else "ON CLOSE", timeout, meta_span(meta))

    def timeout(self, meta: Meta, children: Children) -> ast.Duration:
        return children[0]  # type: ignore[no-any-return]

    def late(self, meta: Meta, children: Children) -> Clause:
        given = children[-1]
        if isinstance(given, ast.Duration):
            late = ast.Late("EVERY", given, meta_span(meta))
        else:
            late = ast.Late(key_of(given), None, meta_span(meta))
        return Clause("LATE", late, meta_span(meta))

    def changes(self, meta: Meta, children: Children) -> Clause:
        return Clause("CHANGES", bool(children), meta_span(meta))

    def final(self, meta: Meta, children: Children) -> Clause:
        return Clause("FINAL", None, meta_span(meta))

    def accumulation(self, meta: Meta, children: Children) -> Clause:
        return Clause(key_of(children[0]), None, meta_span(meta))

    def retain(self, meta: Meta, children: Children) -> Clause:
        amounts = [c for c in children if isinstance(c, ast.Duration | ast.Count)]
        for kind, what in ((ast.Duration, "duration"), (ast.Count, "number of rows")):
            if sum(isinstance(amount, kind) for amount in amounts) > 1:
                legal = "RETAIN INTERVAL '1' HOUR OR 100000 ROWS"
                raise QueryError(f"RETAIN takes one {what}", meta_span(meta), legal=legal)
        span = word(meta, "RETAIN")
        return Clause("RETAIN", [Clause("RETAIN", amounts, span)], span)

    def retention(self, meta: Meta, children: Children) -> Clause:
        span = word(meta, "RETENTION")
        return Clause("RETENTION", [Clause("RETENTION", found(children, ast.Duration), span)], span)

    def expired(self, meta: Meta, children: Children) -> Clause:
        how = key_of(children[0]).split(" ")[1]
        into = named(children[1]) if len(children) > 1 else None
        expired = ast.Expired(how, into, meta_span(meta))
        span = word(meta, "EXPIRED")
        return Clause("EXPIRED", [Clause("EXPIRED", expired, span)], span)
