"""A text cut into statements at its semicolons, those in strings and comments aside.

>>> split("SELECT ';' AS a FROM s; SELECT b")
(["SELECT ';' AS a FROM s"], ' SELECT b')
>>> whole("SELECT a"), whole("SELECT a;"), whole("SELECT 'a;"), whole(r"\\d"), whole("-- note")
(False, True, False, True, True)
"""

from __future__ import annotations

import re

from sqlwin.sql.text.prepared import QUOTED

_PIECE = re.compile(rf"{QUOTED}|--[^\n]*|/\*.*?\*/|(?P<open>['\"`]|/\*)|(?P<end>;)", re.DOTALL)
_WORDS = {"exit": r"\q", "quit": r"\q", "help": r"\?"}
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


def split(text: str) -> tuple[list[str], str]:
    """The statements that are complete, and what stands behind the last of them."""
    found, start = list[str](), 0
    for piece in _PIECE.finditer(text):
        if piece["open"]:
            break
        if piece["end"]:
            found.append(text[start : piece.start()])
            start = piece.end()
    return [each for each in found if not blank(each)], text[start:]


def blank(text: str) -> bool:
    """Whether there are blanks and comments only."""
    return not _COMMENT.sub("", text).strip()


def is_command(text: str) -> bool:
    """Whether it is one of the shell's own, which take one line and no semicolon."""
    return spoken(text).lstrip().startswith("\\")


def spoken(text: str) -> str:
    """The command that other shells call by a word.

    >>> spoken("Exit;"), spoken("SELECT exit")
    ('\\\\q', 'SELECT exit')
    """
    return _WORDS.get(text.strip().rstrip("; ").lower(), text)


def whole(text: str) -> bool:
    """Whether what was typed can be answered, or more of it must come."""
    return is_command(text) or blank(split(text)[1])
