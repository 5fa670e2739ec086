"""One random query, and the same question to DuckDB over all rows."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

PREDICATES = ["i > 0", "k <> 'a'", "b", "f IS NOT NULL", "i < 2 OR b"]
SECOND = 1_000_000
DECLARED = """CREATE STREAM s (
  id BIGINT, k STRING, i BIGINT, d DECIMAL(6, 2), f DOUBLE, b BOOLEAN, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '{delay}' SECOND{offset}
);
"""


@dataclass(frozen=True)
class Question:
    """select: for sqlwin, without policies. batch: for DuckDB over `s`.

    known: how many of the first columns name a row. policy: the clauses below select.
    rising: messages come in the order of their positions. replays: OFFSET is declared.
    """

    select: str
    batch: str
    known: int
    policy: str = ""
    rising: bool = False
    delay: int = 0
    replays: bool = False

    @property
    def text(self) -> str:
        offset = ",\n  OFFSET id" if self.replays else ""
        return f"{DECLARED.format(delay=self.delay, offset=offset)}{self.select}\n{self.policy}"


def predicates() -> st.SearchStrategy[str]:
    return st.sampled_from(["", "", *(f" WHERE {predicate}" for predicate in PREDICATES)])


def partitions() -> st.SearchStrategy[tuple[str, ...]]:
    return st.sampled_from([(), ("k",), ("k", "b")])


def partitioned(keys: tuple[str, ...]) -> str:
    return f"PARTITION BY {', '.join(keys)} " if keys else ""
