"""What is between two tokens: comments stay where they are, behind a token or on own lines,
and of several blank lines one stays where a statement begins."""

from __future__ import annotations

import re

from sqlwin.formatting.document import BLANK, HARD, Doc, Line

COMMENT = re.compile(r"--[^\n]*|/\*(?!\+).*?\*/", re.DOTALL)


def gap(source: str, after: int | None, until: int, planned: Line | str, top: bool = False) -> Doc:
    """Comments of `source` from the end of the last token on, and what was planned.

    after: that end, None before the first token. top: blank lines stay, as one.
    """
    at = 0 if after is None else after
    made: list[Doc] = []
    ended: Line | None = None
    for comment in COMMENT.finditer(source, at, until):
        above = source[at : comment.start()]
        begins = after is None and not made
        if "\n" in above and not begins:
            made.append(BLANK if top and above.count("\n") > 1 else HARD)
        elif not begins:
            made.append(" ")
        made.append(comment[0].rstrip())
        at = comment.end()
        ended = HARD if comment[0].startswith("--") or "\n" in above else None
    rest = source[at:until]
    lines = rest.count("\n")
    if until == len(source) and not made:
        return ""
    if until == len(source):
        return made
    if top and planned is HARD and lines > 1:
        return [*made, BLANK]
    if ended is not None or (made and after is None):
        return [*made, BLANK if top and lines > 1 else HARD]
    if made and planned == "":
        return [*made, " "]
    return [*made, planned]
