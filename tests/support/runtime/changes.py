"""Changes of a table of keys and numbers, as a sink gets them."""

from __future__ import annotations

import random

import polars as pl

Change = tuple[str, str, int]
"""Op, key, value."""
SCHEMA = {"k": pl.String, "n": pl.Int64, "op": pl.String, "emit": pl.String}
SCHEMA |= {"revision": pl.Int32, "row_key": pl.String}


def drawn(rng: random.Random, table: dict[str, int]) -> list[Change]:
    """Changes to a table, which is changed with them."""
    changes: list[Change] = []
    for _ in range(rng.randint(0, 6)):
        key, n = rng.choice("abcde'\""), rng.randint(0, 99)
        if key in table and rng.random() < 0.3:
            changes.append(("-D", key, table.pop(key)))
        else:
            changes.append(("+U" if key in table else "+I", key, n))
            table[key] = n
    return changes


def frame(*changes: Change) -> pl.DataFrame:
    rows = [(key, n, op, "late", 0, f'["{key}"]') for op, key, n in changes]
    return pl.DataFrame(rows, SCHEMA, orient="row")
