"""docs/dialects.md: what other engines write, and what is written here, a row for each.

A file of `tests/docs/dialect_rows` is a section of the page:

    title: Windows

    --- tumbling, in GROUP BY
    flink: `GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)`
    spark: `GROUP BY window(ts, '1 hour')`
    here: [both](windows/tumbling.md)
    accepted: SELECT COUNT(*) AS n FROM orders GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)
    refused: SELECT window(ts, '1 hour') AS w FROM orders
    error: a window is called in GROUP BY

An engine that is left out has nothing of the kind. `accepted` and `refused` are statements over
`STREAMS`, and `error` is how the message of the `refused` above it begins. `here` links to the page
that explains it; where nothing is accepted it begins with `not yet: ` or, of what will not come,
`none: `. A `refused` that is accepted one day fails its test: say so in `here`, and call it
`accepted`.

`python -m tests.docs.dialects` writes the page's tables, `python -m tests.docs.dialects errors` the
beginnings of errors: read the difference.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlwin.errors import QueryError
from sqlwin.sql import script
from tests.docs.blocks import REPO

PAGE = REPO / "docs" / "dialects.md"
ROWS = Path(__file__).parent / "dialect_rows"
ENGINES = {"flink": "Flink SQL", "ksqldb": "ksqlDB", "risingwave": "RisingWave", "spark": "Spark"}
KEYS = {*ENGINES, "here", "accepted", "refused", "error"}
NOTHING = "—"
WITHOUT = ("not yet: ", "none: ")
FIRST, LAST = "<!-- rows: python -m tests.docs.dialects -->\n", "<!-- end of rows -->\n"
STREAMS = """\
CREATE STREAM orders (
  id BIGINT, product STRING, qty INT, price DOUBLE, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
);
CREATE STREAM shipments (id BIGINT, carrier STRING, sent TIMESTAMP, WATERMARK FOR sent AS sent);
CREATE TABLE products (product STRING, maker STRING);
CREATE SINK log WITH (connector = 'console', changelog = 'append');
"""


@dataclass(frozen=True)
class Row:
    """cells: by engine, and `here`. refused: each with how its error begins. file: its name."""

    file: str
    feature: str
    cells: dict[str, str]
    accepted: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]

    @property
    def here(self) -> str:
        return self.cells["here"]


@dataclass(frozen=True)
class Section:
    title: str
    rows: tuple[Row, ...]


def sections() -> list[Section]:
    return [section(path) for path in sorted(ROWS.glob("*.rows"))]


def section(path: Path) -> Section:
    head, *rows = re.split(r"^--- ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    title = head.strip().removeprefix("title: ")
    return Section(title, tuple(_row(path.name, text) for text in rows))


def _row(file: str, text: str) -> Row:
    feature, *lines = text.strip().splitlines()
    pairs = [(key, value) for key, _, value in (line.partition(": ") for line in lines)]
    cells = {key: value for key, value in pairs if key in (*ENGINES, "here")}
    accepted = tuple(value for key, value in pairs if key == "accepted")
    asked = [value for key, value in pairs if key == "refused"]
    errors = [value for key, value in pairs if key == "error"]
    read = len(cells) + len(accepted) + len(asked) + len(errors)
    if read != len(lines) or len(asked) != len(errors):
        raise ValueError(f"{file}: {feature}: {', '.join(sorted(KEYS))}; an error for each refused")
    return Row(file, feature, cells, accepted, tuple(zip(asked, errors, strict=True)))


def refusal(statement: str) -> str | None:
    """The message; None where it is accepted."""
    try:
        script(STREAMS + statement)
    except QueryError as mistake:
        return mistake.message
    return None


def written(page: str) -> str:
    """The page with its tables anew."""
    before, _, rest = page.partition(FIRST)
    return before + FIRST + "\n".join(_tables()) + LAST + rest.partition(LAST)[2]


def _tables() -> Iterator[str]:
    known = sections()
    rows = [row for part in known for row in part.rows]
    missing = sum(row.here.startswith("not yet: ") for row in rows)
    yield f"\n{len(rows)} rows, {missing} of them not yet.\n"
    yield from (f"- [{part.title}](#{_anchor(part.title)})" for part in known)
    for part in known:
        yield f"\n## {part.title}\n"
        yield f"| | {' | '.join(ENGINES.values())} | sqlwin |"
        yield "|---|---|---|---|---|---|"
        yield from map(_line, part.rows)
    yield ""


def _line(row: Row) -> str:
    theirs = [row.cells.get(engine, NOTHING) for engine in ENGINES]
    cells = [row.feature, *theirs, re.sub("^(not yet|none):", r"**\1:**", row.here)]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def with_errors(text: str) -> str:
    """The text of a file of rows, each `refused` with how its error begins today."""
    bare = re.sub(r"^error: .*\n", "", text, flags=re.MULTILINE)
    return re.sub(r"^refused: (.*)\n", _with_error, bare, flags=re.MULTILINE)


def _with_error(found: re.Match[str]) -> str:
    message = refusal(found[1]) or "now accepted"
    begins = re.match(r".{1,70}(?!\S)|\S+", message.splitlines()[0])
    return f"{found[0]}error: {begins[0] if begins else message}\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["errors"]:
        for path in ROWS.glob("*.rows"):
            path.write_text(with_errors(path.read_text(encoding="utf-8")), encoding="utf-8")
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
