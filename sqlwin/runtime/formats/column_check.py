"""Whether a file has the columns that its stream declares.

Where it has none it is refused: every row would be NULL. Where some are missing
that is a warning, as it may be meant. Names are compared as they are.

>>> fit("a.csv", "orders", ("id;price",), ("id", "price"), ",")
Traceback (most recent call last):
sqlwin.errors.RunError: a.csv has no column of stream orders: it has 'id;price', declared are \
'id', 'price'. Is its delimiter another one? delimiter = ';'
>>> fit("a.csv", "orders", ("id", "cost"), ("id", "price"), ",")
('a.csv has no column price of stream orders: it is NULL in every row',)
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlwin.errors import RunError

DELIMITERS = (",", ";", "\t", "|", ":")
MOST_SHOWN = 20
"""Names that a message repeats."""


def fit(
    path: str, stream: str, found: Sequence[str], declared: Sequence[str], delimiter: str | None
) -> tuple[str, ...]:
    """What to warn of; RunError where no column is there. delimiter: of a CSV."""
    missing = [name for name in declared if name not in found]
    if missing and delimiter is not None and any("\r" in name for name in found):
        raise RunError(
            f"{path} of stream {stream} has a CR within its header: do its lines end in CR alone? "
            "They end in LF or CR LF"
        )
    if len(missing) == len(declared):
        raise RunError(
            f"{path} has no column of stream {stream}: it has {_listed(found)}, "
            f"declared are {_listed(declared)}. {_cause(found, declared, delimiter)}"
        )
    if not missing:
        return ()
    are = "it is" if len(missing) == 1 else "they are"
    return (
        f"{path} has no column {', '.join(missing)} of stream {stream}: {are} NULL in every row",
    )


def repeated(path: str, stream: str, found: Sequence[str], declared: Sequence[str]) -> None:
    """RunError where two columns have the name of one that is declared."""
    twice = [name for name in declared if list(found).count(name) > 1]
    if twice:
        raise RunError(f"{path} of stream {stream} has two columns {twice[0]!r} in its header")


def no_names(path: str, stream: str, declared: Sequence[str]) -> str:
    """What to warn of where no line of a JSON file has a declared name."""
    return (
        f"no line of {path} has a column of stream {stream}, declared are {_listed(declared)}: "
        f"every row is NULL"
    )


def _cause(found: Sequence[str], declared: Sequence[str], delimiter: str | None) -> str:
    bare = {name.strip().casefold() for name in found}
    if any(name.casefold() in bare for name in declared):
        return "Names are compared as they are, with their case and white space"
    if delimiter is None:
        return "Is it the right file?"
    whole = delimiter.join(found)
    for other in DELIMITERS:
        parts = [name.strip().strip('"') for name in whole.split(other)]
        if other != delimiter and any(name in parts for name in declared):
            written = "\\t" if other == "\t" else other
            return f"Is its delimiter another one? delimiter = '{written}'"
    return "Has it no header? header = 'false'"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:MOST_SHOWN]))
    more = len(names) - MOST_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown or "none"
