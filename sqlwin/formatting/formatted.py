"""The layout of a script: what it says stays, token by token, and so do its comments.

>>> text = "create stream s (n int); select n,n+1 as m from s where n>1 emit final"
>>> print(formatted(text), end="")
CREATE STREAM s (n int);
SELECT n, n+1 AS m
FROM s
WHERE n>1
EMIT FINAL
"""

from __future__ import annotations

from sqlwin.errors import SqlwinError
from sqlwin.formatting.comments import COMMENT
from sqlwin.formatting.document import render
from sqlwin.formatting.expression_words import written
from sqlwin.formatting.layout import Layout
from sqlwin.sql.syntax.parsing.concrete import concrete, leaves

WIDTH = 100


def formatted(source: str) -> str:
    """QueryError where the text is none of the dialect."""
    text = source.replace("\r\n", "\n")
    made = render(Layout(text).script(concrete(text)), WIDTH).strip("\n") + "\n"
    if _said(made) != _said(text):
        raise SqlwinError("this layout would change what the text says; it is left as it is")
    return made


def _said(text: str) -> tuple[list[str], list[str]]:
    """Tokens, and comments apart from them."""
    tree = concrete(text)
    words = list(written(tree, text))
    at, comments = 0, list[str]()
    for leaf in leaves(tree):
        comments += [each[0].rstrip() for each in COMMENT.finditer(text, at, leaf.start)]
        at = leaf.end
    return words, comments + [each[0].rstrip() for each in COMMENT.finditer(text, at)]
