"""Names in double quotes, as PostgreSQL, RisingWave and standard SQL have them.

Spark has texts in double quotes, and so has sqlwin. `SET 'sql.double-quoted-identifiers' = 'true'`
makes names of them from there on, up to a SET to false: each becomes one in backquotes, where it
stands and as wide as it was.

>>> on = "SET 'sql.double-quoted-identifiers' = 'true'; "
>>> as_names(on + 'SELECT "a b", \\'"c"\\' FROM "o"')[len(on):]
'SELECT `a b`, \\'"c"\\' FROM `o`'
>>> as_names('SELECT "a" FROM o')
'SELECT "a" FROM o'
"""

from __future__ import annotations

import re

from sqlwin.plan.options.settings import DOUBLE_QUOTED

_SET = re.compile(
    rf"""\bSET\s+['"`]{re.escape(DOUBLE_QUOTED)}['"`]\s*=\s*['"]?(?P<value>true|false)['"]?""",
    re.IGNORECASE,
)
_PIECE = re.compile(
    rf"""(?P<set>{_SET.pattern})|(?P<name>"(?:[^"]|"")*")|--[^\n]*|/\*.*?\*/
      |'(?:[^'\\]|\\.|'')*'|`(?:[^`]|``)*`""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)


def as_names(text: str, filled: bool = False) -> str:
    """filled: of names only their extent counts: each is a name as wide, whatever is in it."""
    on = False

    def put(found: re.Match[str]) -> str:
        nonlocal on
        if found["set"]:
            on = found["value"].lower() == "true"
        if not on or not found["name"]:
            return found[0]
        width = len(found["name"]) - 2
        return f"`{'x' * width}`" if filled and width else _backquoted(found["name"])

    return _PIECE.sub(put, text)


def _backquoted(name: str) -> str:
    """As wide as before. One with a backquote in it is wider, and stays what it is."""
    inner = name[1:-1].replace('""', '"')
    return name if "`" in inner or not inner else f"`{inner}`".ljust(len(name))
