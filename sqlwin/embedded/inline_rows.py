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
    waiting = any(not begun(name) for name in chain.tables if name not in own)
    tables = [name for name in left if name in chain.tables]
    return tables if waiting else tables + [name for name in left if name not in tables]
