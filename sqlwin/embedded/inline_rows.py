"""When a query in this process takes the rows that it has itself, of VALUES and series."""

from __future__ import annotations

from collections.abc import Callable

from sqlwin.runtime.lowering.chain import Chain


def inline_streams(chain: Chain, begun: Callable[[str], bool]) -> list[str]:
    """The names of those that are to be taken now. begun: whether rows of a stream have come."""
    own = [name for name, stream in chain.streams.items() if stream.inline]
    if not own:
        return []
    left = [name for name in own if not begun(name)]
    waiting = {name for name in chain.tables if name not in own and not begun(name)}
    if not waiting:
        return left
    while (
        behind := {
            name for table in waiting for name in chain.lookups[table] if name in chain.tables
        }
        - waiting
    ):
        waiting |= behind
    return [name for name in left if name in chain.tables and name not in waiting]
