"""Nexmark's queries: their rows, and DuckDB's answers over all of them at once.

The answers are in `nexmark/*.sql`, in plain DuckDB SQL: none of the dialect's table
functions, so that the two share no definition of a window.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import duckdb
import polars as pl

from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.properties.facts import streams_of
from sqlwin.runtime.nexmark.sequence import TABLES
from sqlwin.runtime.nexmark.source import Nexmark, declared
from sqlwin.runtime.nexmark.tables import COLUMNS
from sqlwin.sql import script

QUERIES = Path(__file__).parents[3] / "queries/nexmark"
ANSWERS = Path(__file__).parents[2] / "queries" / "nexmark"
NAMES = [f"q{n}" for n in range(23)]
_SOURCE = re.compile(r"connector = 'nexmark', table = '(\w+)',[^)]*")


def text(name: str) -> str:
    return (QUERIES / f"{name}.sql").read_text(encoding="utf-8")


def late(name: str) -> str:
    """With a watermark that a part of the rows come behind."""
    return text(name).replace("dateTime - INTERVAL '4' SECOND", "dateTime - INTERVAL '1' SECOND")


def ordinary(name: str) -> str:
    """Over files of Nexmark's columns, in which nothing says when a row arrived."""
    whole = text(name)
    if name == "q12":
        whole = whole.replace(_bids(name), _bids("q0"))
    return _SOURCE.sub(r"connector = 'files', path = '\1/*.parquet', format = 'parquet'\n", whole)


def _bids(name: str) -> str:
    """How a query declares them."""
    return text(name).partition("CREATE STREAM bid (")[2].partition(";\n")[0]


def together(names: Iterable[str], made: Callable[[str], str] = late) -> str:
    """Several queries as one script, each into a folder of its name. made: of a name its text."""
    streams: dict[str, str] = {}
    parsed = []
    for name in names:
        whole = made(name)
        if name == "q12":  # its bids have another event time
            whole = whole.replace("STREAM bid (", "STREAM clocked (")
            whole = whole.replace("TABLE bid,", "TABLE clocked,")
        *declared_, query = (part.strip() for part in _uncommented(whole).split(";\n"))
        streams |= {one.partition(" (")[0]: one for one in declared_}
        parsed.append(f"CREATE SINK {name} WITH (connector = 'files', path = '{name}',")
        parsed[-1] += f" format = 'parquet');\nINSERT INTO {name} {query.rstrip(';')}"
    return ";\n".join([*streams.values(), *parsed])


def _uncommented(sql: str) -> str:
    return "".join(line for line in sql.splitlines(True) if not line.startswith("--")).strip()


@cache
def sources() -> dict[str, Nexmark]:
    """As every query declares them."""
    found = [stream for name in ("q3", "q0") for stream in _streams(name)]
    return {stream.name: declared(stream) for stream in found}


def _streams(name: str) -> list[Stream]:
    return [stream for query in script(text(name)).queries for stream in streams_of(query.plan)]


@cache
def rows(table: str) -> pl.DataFrame:
    source = sources()[table]
    return pl.concat(source.read(split, COLUMNS[table]) for split in source.splits)


def write(base: Path) -> None:
    """The tables as files, one for each split."""
    for table in TABLES:
        (base / table).mkdir()
        source = sources()[table]
        for at, split in enumerate(source.splits):
            frame = source.read(split, COLUMNS[table])
            frame.drop("__part", "__seq", "arrived", strict=False).write_parquet(
                base / table / f"{at:03}.parquet"
            )
    side = (QUERIES / "side_input.csv").read_text(encoding="utf-8")
    (base / "side_input.csv").write_text(side, encoding="utf-8")


@cache
def answer(name: str, clock: str = "arrived") -> pl.DataFrame:
    """clock: the column that says when a bid arrived."""
    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'; SET threads = 1")
    for table in TABLES:
        con.register(table, rows(table).drop("__part", "__seq", "arrived").to_arrow())
    if name == "q12":
        con.register("bid", rows("bid").with_columns(pl.col(clock).alias("arrived")).to_arrow())
    con.execute(f"CREATE VIEW side_input AS FROM read_csv('{QUERIES / 'side_input.csv'}')")
    found = pl.from_arrow(
        con.sql((ANSWERS / f"{name}.sql").read_text(encoding="utf-8")).to_arrow_table()
    )
    assert isinstance(found, pl.DataFrame)
    return found
