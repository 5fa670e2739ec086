"""Tree to AST: windows of streams, OVER clauses, scalar runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Token, Transformer
from lark.tree import Meta
from lark.visitors import v_args

from sqlwin.errors import QueryError, Span
from sqlwin.python_functions.function import UserFunction
from sqlwin.sql.syntax.clauses import Clause, once
from sqlwin.sql.syntax.leaves import Children, found, key_of, meta_span, named, word
from sqlwin.sql.syntax.sums import LEGAL, summed
from sqlwin.sql.text import ast

NOWHERE = Span(1, 1)


@v_args(meta=True)
class WindowRules(Transformer[Token, Any]):
    def __init__(self, source: str, functions: tuple[UserFunction, ...] = ()) -> None:
        super().__init__()
        self.source = source
        self.functions = functions
        self.macros: dict[str, ast.Macro] = {}

    # --- runs ---

    def __default__(self, data: Any, children: Children, meta: Meta) -> Any:
        return Clause(str(data), list(children), word(meta, "x") if not meta.empty else NOWHERE)

    def run(self, meta: Meta, children: Children) -> ast.Run:
        original = self.source[meta.start_pos : meta.end_pos]
        marked = list(original)
        targets: list[ast.Name | ast.Spec] = []
        for start, end, target in _special(children):
            what = target
            if not isinstance(target, str):
                what = f"OVER {chr(ast.PLACEHOLDER + len(targets))}"
                targets.append(target)
            marked[start - meta.start_pos : end - meta.start_pos] = what.ljust(end - start)
        first = original.split("\n")[0]
        span = Span(meta.line, meta.column, max(1, len(first.rstrip())))
        macros = tuple(self.macros.values())
        return ast.Run("".join(marked), original, span, tuple(targets), self.functions, macros)

    def lateral_call(self, meta: Meta, children: Children) -> ast.Run:
        return self.run(meta, children)

    def nested(self, meta: Meta, children: Children) -> ast.Run:
        return self.run(meta, ())

    def over(self, meta: Meta, children: Children) -> Clause:
        target = next(c for c in children if isinstance(c, ast.Name | ast.Spec))
        return Clause("over", (meta.start_pos, meta.end_pos, target), meta_span(meta))

    def nth(self, meta: Meta, children: Children) -> Clause:
        """NTH_VALUE(…) FROM LAST, which sqlglot does not read, becomes NTH_LAST(…)."""
        function, *rest = children
        changes = _special(rest)
        side = rest[-1] if rest else None
        if isinstance(side, Token) and side.type == "NTH_FROM":
            changes.append((side.start_pos, side.end_pos, ""))
            if key_of(side).endswith("LAST"):
                changes.append((function.start_pos, function.end_pos, "NTH_LAST"))
        return Clause("nth", changes, meta_span(meta))

    # --- windows ---

    def stream_window(self, meta: Meta, children: Children) -> ast.Spec:
        spec: ast.Spec = children[0]
        return replace(spec, span=meta_span(meta))

    def ksql_window(self, meta: Meta, children: Children) -> ast.KsqlWindow:
        kind = key_of(children[0]).split(" ")[1]
        given = tuple(c if isinstance(c, tuple) else ("GAP", c) for c in children[1:])
        for word_ in {name for name, _ in given}:
            if [name for name, _ in given].count(word_) > 1:
                raise QueryError(f"{word_} is given twice", meta_span(meta), legal="once")
        return ast.KsqlWindow(kind, given, meta_span(meta))

    def ksql_part(self, meta: Meta, children: Children) -> tuple[str, ast.Duration]:
        return key_of(children[0]), children[1]

    def match_recognize(self, meta: Meta, children: Children) -> ast.MatchRecognize:
        from sqlwin.sql.syntax.matches import match_recognize  # few queries have one

        return match_recognize(self.run(meta, children), meta_span(meta))

    def cql_window(self, meta: Meta, children: Children) -> ast.Spec:
        return replace(self.spec(meta, children), span=meta_span(meta))

    def cql_extent(self, meta: Meta, children: Children) -> Clause:
        unit, extent = children
        amount = extent if isinstance(extent, ast.Duration | ast.Count) else None
        side = "PRECEDING" if amount is not None else "UNBOUNDED PRECEDING"
        bound = ast.Bound(side, amount, extent.span)
        return Clause(
            "frame", ast.FrameSpec(_unit(unit), bound, None, meta_span(meta)), extent.span
        )

    def unbounded(self, meta: Meta, children: Children) -> Clause:
        return Clause("unbounded", None, meta_span(meta))

    def cql_now(self, meta: Meta, children: Children) -> Clause:
        """The instant itself: RANGE 0."""
        span = meta_span(meta)
        now = ast.Bound("PRECEDING", ast.Duration(0, span), span)
        return Clause("frame", ast.FrameSpec("RANGE", now, None, span), span)

    def slide(self, meta: Meta, children: Children) -> Clause:
        return Clause("advance", children[0], meta_span(meta))

    def spec(self, meta: Meta, children: Children) -> ast.Spec:
        clauses = [c for c in children if isinstance(c, Clause)]
        once(clauses)
        given = {clause.word: clause.value for clause in clauses}
        return ast.Spec(
            span=meta_span(meta),
            base=found(children, ast.Name),
            partition=given.get("partition", ()),
            order=given.get("order", ()),
            frame=given.get("frame"),
            advance=given.get("advance"),
            exclude=given.get("exclude"),
            session=given.get("session"),
        )

    def base(self, meta: Meta, children: Children) -> ast.Name:
        return named(children[0])

    def window_name(self, meta: Meta, children: Children) -> ast.Name:
        if str(children[0]).upper() in ("PARTITION", "ORDER", "ROWS", "RANGE", "GROUPS"):
            message = "OVER is followed by a window in brackets"
            raise QueryError(
                message, meta_span(meta), legal="OVER (PARTITION BY product ORDER BY ts)"
            )
        return named(children[0])

    def partition(self, meta: Meta, children: Children) -> Clause:
        return Clause("partition", tuple(children), word(meta, "PARTITION BY"))

    def order_by(self, meta: Meta, children: Children) -> Clause:
        return Clause("order", tuple(children), word(meta, "ORDER BY"))

    def frame(self, meta: Meta, children: Children) -> Clause:
        unit, *bounds = children
        end = bounds[1] if len(bounds) > 1 else None
        return Clause(
            "frame", ast.FrameSpec(_unit(unit), bounds[0], end, meta_span(meta)), meta_span(meta)
        )

    def bound(self, meta: Meta, children: Children) -> ast.Bound:
        return ast.Bound(key_of(children[1]), children[0], meta_span(meta))

    def sum(self, meta: Meta, children: Children) -> ast.Amount:
        return summed([str(c) if isinstance(c, Token) else c for c in children], meta_span(meta))

    def bound_column(self, meta: Meta, children: Children) -> ast.Amount:
        message = "a bound of a frame is a constant: how far frames reach says what rows are kept"
        raise QueryError(message, meta_span(meta), legal=LEGAL)

    def unbounded_bound(self, meta: Meta, children: Children) -> ast.Bound:
        return ast.Bound(f"UNBOUNDED {key_of(children[0])}", None, meta_span(meta))

    def current_row(self, meta: Meta, children: Children) -> ast.Bound:
        return ast.Bound("CURRENT ROW", None, meta_span(meta))

    def advance(self, meta: Meta, children: Children) -> Clause:
        return Clause("advance", children[0], meta_span(meta))

    def session(self, meta: Meta, children: Children) -> Clause:
        gap, *rest = (c for c in children if not _is(c, "WITH_GAP"))
        clauses = [c for c in rest if isinstance(c, Clause)]
        once(clauses)
        if isinstance(gap, ast.Run) and len(rest) > len(clauses):
            message = "the gap of a session in ROWS is a number, the same for all rows"
            raise QueryError(message, gap.span, legal="SESSION 100 ROWS GAP")
        given = {clause.word: clause.value for clause in clauses}
        made = ast.SessionSpec(
            gap, meta_span(meta), given.get("MAX"), given.get("START WHEN"), given.get("END WHEN")
        )
        return Clause("session", made, meta_span(meta))

    def most(self, meta: Meta, children: Children) -> Clause:
        return Clause("MAX", children[1], meta_span(meta))

    def start_when(self, meta: Meta, children: Children) -> Clause:
        return Clause("START WHEN", children[1], meta_span(meta))

    def end_when(self, meta: Meta, children: Children) -> Clause:
        return Clause("END WHEN", children[1], meta_span(meta))

    def exclude(self, meta: Meta, children: Children) -> Clause:
        what = " ".join(key_of(child) for child in children)
        return Clause("exclude", ast.Name(what, meta_span(meta)), meta_span(meta))

    def with_ctes(self, select: ast.Select, ctes: tuple[Any, ...]) -> ast.Select:
        return replace(select, ctes=ctes)


def _special(children: Children) -> list[tuple[Any, Any, Any]]:
    """What sqlglot is not to see as it is written: its place, and an OVER's window or a text."""
    clauses = [child for child in children if isinstance(child, Clause)]
    overs = [clause.value for clause in clauses if clause.word == "over"]
    return overs + [made for clause in clauses if clause.word == "nth" for made in clause.value]


def _is(child: Any, type_: str) -> bool:
    return isinstance(child, Token) and child.type == type_


def _unit(token: Token) -> str:
    """RANGE, ROWS or GROUPS; `ROW` is read as ROWS."""
    unit = key_of(token)
    return "ROWS" if unit == "ROW" else unit
