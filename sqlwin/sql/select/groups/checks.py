"""What keys a window admits: those of GROUP BY, of PARTITION BY and of GROUPING SETS together.

Invariant: a key of GROUP BY cuts no window that is of a partition, and windows of two keys never
look like one.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlwin.errors import QueryError
from sqlwin.sql.text import ast
from sqlwin.sql.windows.window import Window


def check_sliding(
    window: Window, select: ast.Select, partition: list[str], named: list[str]
) -> None:
    """A sliding tuple window belongs to one partition; other keys would cut it."""
    if window.group is None and window.counts and set(partition) != set(named) and named:
        message = "a sliding window in ROWS is grouped by its PARTITION BY and nothing else"
        names = ", ".join(partition) or "nothing"
        span = select.group[-1].span
        raise QueryError(message, span, legal=f"PARTITION BY what GROUP BY names; it has {names}")


def check_session(
    window: Window, select: ast.Select, partition: list[str], named: list[str]
) -> None:
    """Sessions of two users that happen to agree are two windows, not one."""
    lacking = [
        run for run, name in zip(window.partition, partition, strict=False) if name not in named
    ]
    if window.session is not None and select.group and lacking:
        lacking_names = ", ".join(run.original for run in lacking)
        message = f"GROUP BY lacks {lacking_names}, by which the sessions are split"
        legal = f"GROUP BY {lacking_names}, …; or no GROUP BY"
        raise QueryError(message, select.group[-1].span, legal=legal)


def refuse_sets(window: Window, group: Sequence[ast.Run], given: bool) -> None:
    if given and window.group is None:
        message = "a window of each row is of that row's keys, and has no GROUPING SETS"
        legal = "TUMBLE, HOP, CUMULATE, SESSION, ADVANCE BY n ROWS, or a query for each set"
        raise QueryError(message, group[-1].span, legal=legal)
