"""What a shell has been told so far: CREATE and SET, as the text that stands before each query.

>>> known = Declarations()
>>> known.add("CREATE STREAM orders (n INT)")
>>> known.bind("SELECT n FROM orders").queries[0].plan.schema[0].name
'n'
>>> [(each.kind, each.name) for each in known.all]
[('stream', 'orders')]
"""

from __future__ import annotations

import re
from dataclasses import field, replace
from difflib import get_close_matches

from sqlwin.errors import InputError, QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.statements import Describe, DescribeFunction, Script
from sqlwin.schema import Schema
from sqlwin.sql import script
from sqlwin.sql.sources.files import Infer
from sqlwin.sql.syntax.parsing.parser import statements
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import blanked, prepare
from sqlwin.sql.text.shown import shown

_KINDS = {ast.CreateView: "view", ast.CreateSink: "sink"}
_DROP = re.compile(
    r"\s*DROP\s+(?:(?:MATERIALIZED|TEMPORARY)\s+)?(STREAM|TABLE|SOURCE|VIEW|SINK|FUNCTION|MACRO)\s+"
    r"(IF\s+EXISTS\s+)?(`[^`]+`|\w+)\s*\Z",
    re.IGNORECASE,
)
_NAMED_RESULT = re.compile(
    r"\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:STREAM|TABLE|MATERIALIZED\s+VIEW)\b", re.IGNORECASE
)
_DECLARES = re.compile(r"\s*(?:CREATE|SET)\b", re.IGNORECASE)
ROWS = ("stream", "table", "view")
"""What DROP STREAM and DROP TABLE drop: a named result is a view here, and a table elsewhere."""
APART = "\n;\n"
"""Between statements: a comment may end one."""


@dataclass(frozen=True)
class Declared:
    """kind: stream, table, view, sink, function, setting."""

    kind: str
    name: str
    text: str


def declares(statement: str) -> bool:
    """Whether it is CREATE or SET, whatever comments stand before it."""
    return _DECLARES.match(blanked(statement)) is not None


@dataclass
class Declarations:
    """infer: gives the stream of a file in FROM."""

    infer: Infer | None = None
    all: list[Declared] = field(default_factory=list)

    def bind(self, statement: str, typed: str = "") -> Script:
        """The statement alone, that sees what was declared; QueryError with its place in it.

        typed: what it was before something in it became blanks."""
        return self._bound(self.all, statement, typed)

    def add(self, statement: str) -> None:
        """CREATE or SET; QueryError, and nothing is changed, where it cannot be.

        A named result is a view here, whose rows come where a query asks for them.
        """
        self._bound(self.all, statement)
        for parsed in statements(prepare(statement, {}).text):
            made = _declared(parsed, statement.strip())
            existing = getattr(parsed, "existing", ast.Existing.REFUSED)
            there = any(_key(each) == _key(made) for each in self.all)
            if made.kind == "setting" or existing is ast.Existing.REPLACED:
                self.all = [each for each in self.all if _key(each) != _key(made)]
            if existing is not ast.Existing.KEPT or not there:
                self.all.append(made)

    def drop(self, statement: str) -> str | None:
        """DROP of something, whose name is returned; None for any other statement.

        InputError where there is none, or something else reads it."""
        asked = _DROP.match(blanked(statement))
        if asked is None:
            return None
        kind, name = (
            asked[1].lower().replace("macro", "function").replace("source", "stream"),
            asked[3].strip("`"),
        )
        kinds = ROWS if kind in ("stream", "table") else (kind,)
        left = [e for e in self.all if e.kind not in kinds or e.name.lower() != name.lower()]
        if len(left) == len(self.all):
            if asked[2]:
                return name
            near = get_close_matches(name, [each.name for each in self.all], 1)
            legal = f"; did you mean {near[0]}?" if near else r"; \d lists what there is"
            raise InputError(f"no {kind} is called {name}{legal}")
        try:
            self._bound(left, "SHOW STREAMS")
        except QueryError as error:
            raise InputError(f"{name} is still read: {error.message}") from None
        self.all = left
        return name

    def columns(self) -> dict[str, Schema]:
        """Of streams, tables, views and sinks, by name."""
        names = [each.name for each in self.all if each.kind not in ("setting", "function")]
        asked = ";\n".join(f"DESCRIBE `{name}`" for name in names)
        found = self.bind(asked).statements if names else ()
        described = [each for each in found if isinstance(each, Describe)]
        return {name: each.columns for name, each in zip(names, described, strict=True)}

    def signatures(self) -> dict[str, str]:
        """Of functions, by name."""
        names = [each.name for each in self.all if each.kind == "function"]
        asked = ";\n".join(f"DESCRIBE FUNCTION `{name}`" for name in names)
        found = self.bind(asked).statements if names else ()
        described = [each.lines for each in found if isinstance(each, DescribeFunction)]
        return {name: lines[1].strip() for name, lines in zip(names, described, strict=True)}

    def _bound(self, known: list[Declared], statement: str, typed: str = "") -> Script:
        texts = [each.text for each in known]
        try:
            return script(APART.join([*texts, statement]), infer=self.infer)
        except QueryError as error:
            raise _placed(error, [*texts, typed or statement]) from None


def _placed(error: QueryError, texts: list[str]) -> QueryError:
    """The same error, with its place in the text where it is: each begins on a line of its own."""
    error.text, span = shown(texts[-1]), error.span
    first = 1
    for text in texts if span else ():
        behind = first + text.count("\n") + APART.count("\n")
        if span and span.line < behind:
            error.text, error.span = shown(text), replace(span, line=span.line - first + 1)
            break
        first = behind
    return error


def _declared(parsed: ast.Statement, text: str) -> Declared:
    if isinstance(parsed, ast.Set):
        return Declared("setting", parsed.name.lower(), text)
    if isinstance(parsed, ast.CreatePython):
        return Declared("function", parsed.name.text, text)
    if isinstance(parsed, ast.CreateFunction):
        return Declared("function", parsed.macro.name.text, text)
    if isinstance(parsed, ast.CreateAs):
        if parsed.sink is not None:
            message = f"{parsed.name.text} has a sink, which it would fill for as long as it runs"
            legal = "a script; here CREATE SINK … and INSERT INTO … SELECT …"
            raise InputError(f"{message}; legal is {legal}")
        named = blanked(text)
        found = _NAMED_RESULT.match(named)
        assert found is not None
        return Declared("view", parsed.name.text, f"CREATE VIEW{named[found.end() :]}")
    assert isinstance(parsed, ast.CreateStream | ast.CreateView | ast.CreateSink)
    kind = _KINDS.get(type(parsed)) or parsed.kind.lower()  # type: ignore[union-attr]
    return Declared(kind, parsed.name.text, text)


def _key(declared: Declared) -> tuple[str, str]:
    """What it is called: a setting or a function may have the name of a stream."""
    apart = declared.kind if declared.kind in ("setting", "function") else "rows"
    return apart, declared.name.lower()
