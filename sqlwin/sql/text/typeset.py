"""Signs that a web page or a word processor puts in the place of those of SQL."""

from __future__ import annotations

SINGLE_QUOTES = "\u2018\u2019\u201a\u201b\u2032\u00b4"
DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"
TYPESET = {
    **dict.fromkeys(SINGLE_QUOTES, "'"),
    **dict.fromkeys(DOUBLE_QUOTES, '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
    **dict(zip("\u00d7\u2264\u2265\u2260\u2026", ("*", "<=", ">=", "<>", "..."), strict=True)),
    **dict(zip("\uff08\uff09\uff0c\uff1b\uff1d\uff0a", "(),;=*", strict=True)),
}
