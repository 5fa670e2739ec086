"""docs/reference/: statements, clauses, types, options and aggregates, from what they are read by.

`make reference` writes the pages; a test says when they are out of date. Functions have a page of
their own, `make functions`.

>>> rules("a: \\"CREATE\\"i NAME (\\",\\" NAME)* run{a}\\nNAME: /x/", ("a",))
['a = CREATE name { , name } expression']
>>> words(r"/WATERMARK\\s+FOR\\b/i"), words(r"/(STREAM|TABLE)\\b/i"), words(r"/IN(?=\\s+(A|B))/i")
('WATERMARK FOR', '(STREAM | TABLE)', 'IN')
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill

from sqlwin.aggregates import ALIASES, SIGNATURES
from sqlwin.plan.options.connectors import SINKS, STREAMS, Connectors
from sqlwin.plan.options.settings import DOUBLE_QUOTED, FIXED, SETTINGS
from sqlwin.plan.options.ttl_options import ALIASES as TTL_ALIASES
from sqlwin.schema import type_aliases, type_named, type_names
from sqlwin.sql.syntax.parsing.parser import grammar_folder
from sqlwin.sql.windows.window_functions import WINDOW_FUNCTIONS

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
MADE = "This page is made from {source}: `make reference`."
NOTATION = """\
In capitals: words, in any case. `[x]` may be left out, `{ x }` may be repeated or left out, `|` is
between alternatives; a rule with `_` in front only parts a longer one. `expression` is Spark SQL,
see [functions](../functions.md). Names may be quoted by backquotes.
"""
TERMINALS = {
    "NAME": "name",
    "STRING": "'text'",
    "TEXT": '"text"',
    "NUMBER": "number",
    "HINT": "/*+ hint */",
    "OP": "operator",
    "_PIPE": '"|>"',
}
PIECES = re.compile(r'"([^"]*)"i?|([A-Za-z_]\w*)(?:\{[\w,]*\})?|[()*?+|]')
SECTION = re.compile(r"^// --- (.*?) -*$", re.MULTILINE)
RULE = re.compile(r"^[?!]?(_?[a-z]\w*)(?:\{\w+\})?: (.*(?:\n +\|.*)*)", re.MULTILINE)
TERMINAL = re.compile(r"^(_?[A-Z]\w*)(?:\.\d+)?: (/.*/\w*)$", re.MULTILINE)


# --- the grammar ---------------------------------------------------------------------


def grammar() -> str:
    return (grammar_folder() / "sqlwin.lark").read_text("utf-8")


def sections() -> Mapping[str, str]:
    """The grammar's parts by the first word of their titles."""
    parts = SECTION.split(grammar())
    return {
        title.split()[0].rstrip(","): text
        for title, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def rules(text: str, only: tuple[str, ...] = ()) -> list[str]:
    """The rules of a part of the grammar, readable."""
    terminals = TERMINALS | {
        name: words(pattern)
        for name, pattern in TERMINAL.findall(grammar() if not only else text)
        if name not in TERMINALS
    }
    return [
        _folded(f"{name} = {_expansion(body, terminals)}")
        for name, body in RULE.findall(text)
        if not only or name in only
    ]


def _folded(rule: str) -> str:
    """On lines that fit a page."""
    return fill(rule, 96, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def words(pattern: str) -> str:
    """The words that a terminal's pattern reads, without what has to stand around them."""
    text = re.sub(r"\\[b()]|\\Z", "", pattern.rsplit("/", 1)[0][1:])
    text = re.sub(r"\\s[+*]", " ", text).replace(r"\d+", "number")
    text = re.sub(r"\[[^\]]*\]", "", text)  # what may stand next
    while (at := re.search(r"\(\?[=!<]", text)) is not None:
        text = text[: at.start()] + text[_closing(text, at.start()) + 1 :]
    text = re.sub(r"\(\(([^()]*)\) \)\*", r"{ \1 } ", text)  # ((A|B)\s+)*
    text = re.sub(r"\(([^()]*)\)\?", r" [\1] ", text)
    text = re.sub(r"(\w)\?", r"[\1]", text)  # ROWS?
    text = re.sub(r"\s+", " ", text.replace("|", " | ")).strip()
    text = text.replace("[ ", "[").replace(" ]", "]")
    return f"({text})" if " | " in re.sub(r"[({].*?[)}]", "", text) else text


def _closing(text: str, opening: int) -> int:
    depth = 0
    for at in range(opening, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at
    raise ValueError(text)


def _expansion(body: str, terminals: Mapping[str, str]) -> str:
    """Lark's notation as EBNF."""
    out: list[str] = []
    opened: list[int] = []
    for piece in PIECES.finditer(re.sub(r"\s*->\s*\w+", "", body)):
        text = piece[0]
        if text == "(":
            opened.append(len(out))
            out.append("(")
        elif text == ")":
            at = opened.pop()
            out[at:] = ["(" + " ".join(out[at + 1 :]) + ")"]
        elif text in ("*", "?", "+"):
            out[-1] = _repeated(out[-1], text)
        else:
            out.append(_word(piece, terminals))
    return " ".join(out)


def _repeated(last: str, sign: str) -> str:
    inside = last[1:-1] if last.startswith("(") and last.endswith(")") else last
    return {"?": f"[{inside}]", "*": f"{{ {inside} }}", "+": f"{last} {{ {inside} }}"}[sign]


def _word(piece: re.Match[str], terminals: Mapping[str, str]) -> str:
    literal, named = piece[1], piece[2]
    if literal is not None:
        return f'"{literal}"' if literal in ("(", ")", "[", "]") else literal
    if named is None or named == "run":
        return "expression" if named else piece[0]
    return terminals.get(named, named)


# --- pages ---------------------------------------------------------------------------


def statements() -> Iterator[str]:
    yield from _head("Statements", "grammar/sqlwin.lark", NOTATION)
    yield from _rules("Statements", grammar().split("// ---")[0], "")
    yield from _section("Declarations", "declarations")


def clauses() -> Iterator[str]:
    yield from _head("Clauses of a query", "grammar/sqlwin.lark", NOTATION)
    yield from _section("Queries", "queries")
    yield from _section("Windows", "relations")
    yield from _window_functions()
    yield from _section("Policies", "policies")
    yield from _section("Durations", "durations")


def types() -> Iterator[str]:
    yield from _head("Types", "sqlwin/schema.py")
    yield from _table("type", "also", "in Arrow", "")
    meaning = {"TIMESTAMP": "an instant, in microseconds", "DECIMAL(p, s)": "up to 38 digits"}
    for name in type_names():
        known = type_named(name.split("(")[0])
        arrow = "decimal128(p, s)" if "(" in name else str(known)
        also = ", ".join(map(_code, type_aliases(name.split("(")[0])))
        yield _row(_code(name), also, _code(arrow), meaning.get(name, ""))
    yield _row("`ARRAY<type>`", "", "`list<type>`", "")
    yield _row("`STRUCT<name: type, …>`", "", "`struct<…>`", "")
    yield ""
    yield "What a value is in JSON, CSV and Parquet: [formats](../formats.md). A MAP is a value"
    yield "within an expression, but no column of a stream."


def options() -> Iterator[str]:
    yield from _head("Options", "sqlwin/plan/options/")
    yield "In WITH of a stream, a table or a sink. What they mean at length:"
    yield "[connectors](../connectors.md)."
    yield ""
    yield from _connectors("Streams and static tables", STREAMS)
    yield from _connectors("Sinks", SINKS)
    yield "## Settings"
    yield ""
    yield "By `SET name = value`. Spark's own are set by their names, such as"
    yield "`SET 'spark.sql.shuffle.partitions' = '4'`."
    yield ""
    yield from _table("setting", "")
    for name, about in SETTINGS.items():
        yield _row(_code(name), about)
    yield _row(
        _code("time.zone"),
        "[by whose clocks](../semantics/time.md#the-time-zone-of-a-session) texts and functions go",
    )
    yield _row(_code("window.time-zone"), "the same of windows of days, weeks and months alone")
    yield _row(_code(DOUBLE_QUOTED), "whether double quotes hold names: true or false")
    for alias, name in TTL_ALIASES.items():
        yield _row(_code(alias), f"Flink's name of {_code(name)}")
    yield ""
    yield "A query needs these of Spark's as they are:"
    yield ""
    yield from _table("setting of Spark", "why")
    for name, why in FIXED.items():
        yield _row(_code(name), why)


def aggregates() -> Iterator[str]:
    yield from _head("Aggregates", "sqlwin/aggregates/signatures.py")
    yield "NULLs, errors and the state of each: [aggregates](../aggregates.md)."
    yield ""
    yield from _table("aggregate", "of", "also", "such as")
    for known in sorted(SIGNATURES, key=lambda known: known.name):
        also = ", ".join(_code(n.upper()) for n, to in sorted(ALIASES.items()) if to == known.name)
        yield _row(_code(known.name.upper()), known.accepts, also, _code(known.example))


PAGES = {
    "statements": statements,
    "clauses": clauses,
    "types": types,
    "options": options,
    "aggregates": aggregates,
}


def page(name: str) -> str:
    return "\n".join(PAGES[name]()).rstrip() + "\n"


def _head(title: str, source: str, more: str = "") -> Iterator[str]:
    yield f"# {title}"
    yield ""
    yield MADE.format(source=_code(source))
    yield ""
    if more:
        yield more


def _section(title: str, part: str) -> Iterator[str]:
    readme = (grammar_folder() / "README.md").read_text("utf-8")
    found = re.search(rf"^## {title}.*?\n\n(\|.*?)(?:\n\n|\Z)", readme, re.MULTILINE | re.DOTALL)
    table = "" if found is None else re.sub(r"\]\(\.\./docs/", "](../", found[1])
    yield from _rules(title, sections()[part], table)


def _rules(title: str, text: str, table: str) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield "```text"
    yield from rules(text)
    yield "```"
    yield ""
    if table:
        yield table
        yield ""


def _window_functions() -> Iterator[str]:
    yield "## Window functions"
    yield ""
    yield from _table("function", "in", "arguments, by place or by name", "such as")
    for name, known in WINDOW_FUNCTIONS.items():
        where = "FROM" if known.of_table else "GROUP BY"
        places = ", ".join(_code(place) for place in (*known.places, *known.named))
        yield _row(_code(name.upper()), where, places, _code(known.example))
    yield ""


def _connectors(title: str, known: Connectors) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    for connector, its in known.items():
        yield f"### `{connector}`, of {title.split()[0].lower()}"
        yield ""
        yield from _table("option", "legal", "default", "")
        for option in its:
            about = option.about.replace("](#", "](../connectors.md#")
            about = about.replace("](semantics/", "](../semantics/")
            default = "needed" if option.needed else option.default
            yield _row(_code(option.name), _escaped(option.legal), default, about)
        yield ""


def _table(*names: str) -> Iterator[str]:
    yield _row(*names)
    yield "|" + "---|" * len(names)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    return "`" + _escaped(text) + "`"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in PAGES:
        (FOLDER / f"{name}.md").write_text(page(name), "utf-8")


if __name__ == "__main__":
    main()
