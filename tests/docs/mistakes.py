"""docs/mistakes.md, of the pairs of newcomers: `python -m tests.docs.mistakes` writes it anew."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwin.testing.golden import Golden
from tests.docs.blocks import REPO
from tests.pairs.text import files, pairs
from tests.support.docs.taken import TAKEN

PAGE = REPO / "docs" / "mistakes.md"
ORDER = (
    *("words", "signs", "windows", "over", "time"),
    *("declarations", "joins", "values", "results"),
)
HEAD = """\
# Mistakes of newcomers

What people who know Flink SQL, Spark SQL, ksqlDB or RisingWave type first, and what it gets them. A
message says what is wrong, points at the place, and ends with what would be legal:

```text
error: FRM: did you mean FROM?
  at line 2, column 35
  | SELECT product, SUM(qty) AS total FRM orders
  |                                   ^^^
```

A word is taken for one that is near it only where the whole statement can be read with it. Names
are looked for among those that are in scope there: columns, streams, functions, options; and among
those that other engines have for the same.
"""


def page() -> str:
    return "\n".join([HEAD, *_contents(), *_refused(), *_taken()])


def _contents() -> Iterator[str]:
    for file in _files():
        yield f"- [{_title(file.head['title'])}](#{_anchor(file.head['title'])})"
    yield f"- [{_title(ELSEWHERE)}](#{_anchor(ELSEWHERE)})\n"


ELSEWHERE = "taken as it is"


def _refused() -> Iterator[str]:
    for file in _files():
        yield f"## {_title(file.head['title'])}\n"
        yield "| written | message | at | legal |"
        yield "|---|---|---|---|"
        for pair in pairs(file):
            message, *rest = pair.expected.splitlines()
            said = {key: value for key, _, value in (line.partition(": ") for line in rest)}
            at, legal = said.get("at", ""), said.get("legal", "")
            yield f"| {_code(pair.query)} | {_text(message)} | {_code(at)} | {_text(legal)} |"
        yield ""


def _taken() -> Iterator[str]:
    yield f"## {_title(ELSEWHERE)}\n"
    yield "These are spelt as another engine spells them, and mean the same here.\n"
    yield "| from | written |"
    yield "|---|---|"
    yield from (f"| {engine} | {_code(query)} |" for engine, query in TAKEN)
    yield ""


def _files() -> list[Golden]:
    by_name = {file.name.rpartition("/")[2]: file for file in files(["refused/newcomers/"])}
    return [by_name[name] for name in ORDER]


def _title(title: str) -> str:
    return title[0].upper() + title[1:]


def _anchor(title: str) -> str:
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c == "-")


def _code(text: str) -> str:
    if not text:
        return ""
    one = " ".join(text.split()).replace("|", "\\|")
    return f"`` {one} ``" if "`" in one else f"`{one}`"


def _text(text: str) -> str:
    for sign in "\\|*<>`_":
        text = text.replace(sign, "\\" + sign)
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
