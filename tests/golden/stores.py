"""The stores of a query, as EXPLAIN names them and as its tasks opened them.

>>> named("Operator: join\\nStores: left (rows), revisions (what was emitted of each result)")
[['left', 'revisions']]
"""

from __future__ import annotations

import re

from sqlwin.embedded.query import EmbeddedQuery


def named(explained: str) -> list[list[str]]:
    """Names of stores, a list for each stage that EXPLAIN shows; all sorted."""
    lines = [line for line in explained.splitlines() if line.startswith("Stores: ")]
    texts = [re.sub(r" \([^)]*\)", "", line.removeprefix("Stores: ")) for line in lines]
    return sorted(sorted(text.split(", ")) for text in texts)


def opened(query: EmbeddedQuery) -> list[list[str]]:
    """The same, of the stages that keep any."""
    tasks = [sorted(task.stores.named) for task in query._task.tasks]
    return sorted(names for names in tasks if names)
