"""What expressions cost a row: `python -m bench.expressions --rows 10000000`.

Each is computed as a query computes its select list, over one batch, and beside it the nearest
text of the engine's own, which may mean something else at the edges: what the difference costs.
A ratio is of one run, the median of three, in turns.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import cache
from statistics import median
from time import process_time

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa

import sqlwin
from sqlwin.plan.ir.nodes import Project, Scalar
from sqlwin.runtime.rows.scalars import AT, evaluate
from sqlwin.sandbox.locked import locked
from sqlwin.sql import script

EXPRESSIONS = {
    "n + 1": '"n" + 1',
    "n * 2 - m": '"n" * 2 - "m"',
    "x * 1.5": '"x" * 1.5',
    "price * 2": '"price" * 2',
    "n % 7": '"n" % 7',
    "n > 500 AND m < 100": '"n" > 500 AND "m" < 100',
    "n BETWEEN 10 AND 900": '"n" BETWEEN 10 AND 900',
    "k IN ('k1', 'k2', 'k3')": "\"k\" IN ('k1', 'k2', 'k3')",
    "k = 'k7'": "\"k\" = 'k7'",
    "IF(n > 500, 'high', 'low')": "CASE WHEN \"n\" > 500 THEN 'high' ELSE 'low' END",
    "COALESCE(o, 0)": 'coalesce("o", 0)',
    "UPPER(k)": 'upper("k")',
    "CONCAT(k, '-', k)": '"k" || \'-\' || "k"',
    "SUBSTRING(k, 1, 2)": 'substring("k", 1, 2)',
    "k LIKE 'k1%'": "\"k\" LIKE 'k1%'",
    "LENGTH(k)": 'length("k")',
    "CAST(n AS STRING)": 'CAST("n" AS VARCHAR)',
    "CAST(digits AS INT)": 'CAST("digits" AS INTEGER)',
    "CAST(faulty AS INT)": 'TRY_CAST("faulty" AS INTEGER)',
    "DATE_TRUNC('HOUR', ts)": "date_trunc('hour', \"ts\")",
    "DATE_FORMAT(ts, 'yyyy-MM-dd')": "strftime(\"ts\", '%Y-%m-%d')",
    "HOUR(ts)": 'hour("ts")',
    "REPLACE(k, 'k', 'key')": "replace(\"k\", 'k', 'key')",
    "ROUND(x, 2)": 'round("x", 2)',
    "CAST(x AS STRING)": 'CAST("x" AS VARCHAR)',
    "CAST(number AS DOUBLE)": 'CAST("number" AS DOUBLE)',
    "CAST(time AS TIMESTAMP)": 'CAST("time" AS TIMESTAMP)',
    "TO_DATE(time)": 'CAST("time" AS DATE)',
    "CAST(STRUCT(n, k) AS STRING)": "CAST({'n': \"n\", 'k': \"k\"} AS VARCHAR)",
    "CAST(ts AS STRING)": 'CAST("ts" AS VARCHAR)',
    "TO_DATE(time, 'yyyy-MM-dd HH:mm:ss')": "strptime(\"time\", '%Y-%m-%d %H:%M:%S')::DATE",
    "TO_TIMESTAMP(time, 'yyyy-MM-dd HH:mm:ss')": "strptime(\"time\", '%Y-%m-%d %H:%M:%S')",
    "GET_JSON_OBJECT(doc, '$.user.id')": "json_extract_string(\"doc\", '$.user.id')",
    "FROM_JSON(doc, 'n INT, user STRUCT<id: INT>')": (
        'from_json("doc", \'{"n": "INTEGER", "user": {"id": "INTEGER"}}\')'
    ),
    "TO_JSON(STRUCT(n, k))": "to_json({'n': \"n\", 'k': \"k\"})",
    "REGEXP_EXTRACT(words, '([0-9]+)', 1)": "regexp_extract(\"words\", '([0-9]+)', 1)",
    "REGEXP_REPLACE(words, '[aeiou]', '')": "regexp_replace(\"words\", '[aeiou]', '', 'g')",
    "REGEXP_EXTRACT_ALL(words, '([0-9]+)', 1)": "regexp_extract_all(\"words\", '([0-9]+)', 1)",
    "REGEXP_COUNT(words, '[aeiou]')": "len(regexp_extract_all(\"words\", '[aeiou]'))",
    "REGEXP_SUBSTR(words, '[0-9]+')": "regexp_extract(\"words\", '[0-9]+')",
    "words RLIKE '^[a-z]+ [0-9]'": "regexp_matches(\"words\", '^[a-z]+ [0-9]')",
    "SPLIT(words, ' ')": "string_split(\"words\", ' ')",
    "SPLIT(words, '[, ]+')": "string_split_regex(\"words\", '[, ]+')",
    "SPLIT_PART(words, ' ', 2)": "split_part(\"words\", ' ', 2)",
    "SUBSTRING_INDEX(words, ' ', 2)": "array_to_string(string_split(\"words\", ' ')[:2], ' ')",
    "CONCAT_WS('-', k, words)": 'concat_ws(\'-\', "k", "words")',
    "INITCAP(words)": 'upper("words"[1]) || lower("words"[2:])',
    "TRANSLATE(words, 'aeiou', '12345')": "translate(\"words\", 'aeiou', '12345')",
    "TRIM(words)": 'trim("words")',
    "LPAD(k, 8, '0')": "lpad(\"k\", 8, '0')",
    "INSTR(words, 'e')": "instr(\"words\", 'e')",
    "FORMAT_NUMBER(x, 2)": "format('{:,.2f}', \"x\")",
    "TO_CHAR(price, '9999.99')": "format('{:.2f}', \"price\")",
    "FORMAT_STRING('%s has %05d', k, n)": 'printf(\'%s has %05d\', "k", "n")',
    "MASK(words)": "translate(\"words\", 'abcdeghinrtw0123456789', 'xxxxxxxxxxxxnnnnnnnnnn')",
    "PARSE_URL(url, 'HOST')": "regexp_extract(\"url\", '://([^/?]+)', 1)",
    "PARSE_URL(url, 'QUERY', 'page')": "regexp_extract(\"url\", '[?&]page=([^&]*)', 1)",
    "URL_ENCODE(words)": 'url_encode("words")',
    "HASH(k, n)": 'hash("k", "n")',
    "XXHASH64(k, n)": 'hash("k", "n")',
    "MD5(words)": 'md5("words")',
    "SHA2(words, 256)": 'sha256("words")',
    "TRANSFORM(list, v -> v + 1)": 'list_transform("list", lambda v: v + 1)',
    "FILTER(list, v -> v > 500)": 'list_filter("list", lambda v: v > 500)',
    "ARRAY_CONTAINS(list, 7)": 'list_contains("list", 7)',
    "DATEDIFF(ts, DATE '2023-01-01')": "date_diff('day', DATE '2023-01-01', \"ts\")",
    "DATE_ADD(ts, 7)": 'CAST("ts" AS DATE) + 7',
}
"""sqlwin's and DuckDB's. Of `faulty`, one row of a hundred goes to the error stream."""


def rows(count: int) -> pl.DataFrame:
    draw = np.random.default_rng(1)
    n = draw.integers(0, 1000, count, dtype=np.int64)
    frame = pl.DataFrame(
        {
            "n": n,
            "m": draw.integers(0, 1000, count, dtype=np.int64),
            "o": pl.Series(n.astype(np.int32)).set(pl.Series(n % 10 == 0), None),
            "x": draw.random(count) * 1000,
            "ts": pl.Series(1_700_000_000_000_000 + n * 60_000_000).cast(pl.Datetime("us", "UTC")),
        }
    )
    return frame.with_columns(
        pl.format("k{}", pl.col("n")).alias("k"),
        pl.col("n").cast(pl.String).alias("digits"),
    ).with_columns(
        pl.col("x").cast(pl.String).alias("number"),
        pl.when(pl.col("n") % 100 > 0).then("digits").otherwise(pl.lit("none")).alias("faulty"),
        pl.col("ts").dt.to_string("%Y-%m-%d %H:%M:%S").alias("time"),
        pl.format("word {} again {}", pl.col("n"), pl.col("m")).alias("words"),
        pl.struct("n", user=pl.struct(id="m", name="k")).struct.json_encode().alias("doc"),
        pl.format("https://example.com/{}?page={}", "n", "m").alias("url"),
        pl.concat_list("n", "m").alias("list"),
        (pl.col("x") * 100).cast(pl.Int64).cast(pl.Decimal(10, 2)).alias("price"),
    )


def compiled(text: str, schema: pa.Schema) -> Scalar:
    query = f"SELECT {text} AS y FROM input"
    (made,) = script(query, {"input": sqlwin.stream(schema)}).queries
    assert isinstance(made.plan, Project)
    return made.plan.columns[0][1]


def seconds(work: Callable[[], object]) -> float:
    """Of the processor: other work of the machine counts in no ratio."""
    began = process_time()
    work()
    return process_time() - began


@cache
def _plain() -> duckdb.DuckDBPyConnection:
    return locked()


def nearest(frame: pl.DataFrame, text: str) -> pl.DataFrame:
    """DuckDB's own text over the same rows, there and back as `evaluate` does it."""
    con = _plain()
    con.register("rows", frame.with_row_index(AT).to_arrow())
    made = con.sql(f"SELECT {text} AS y FROM rows").to_arrow_table()
    found: pl.DataFrame = pl.from_arrow(made)  # type: ignore[assignment]
    return found


def main(arguments: argparse.Namespace) -> None:
    everything = rows(arguments.rows)
    schema = everything.head(1).to_arrow().schema
    fields = pa.schema([(field.name, stored(field.type)) for field in schema])
    for text, engine in EXPRESSIONS.items():
        if arguments.only not in text:
            continue
        ours = compiled(text, fields)
        frame = everything.select(ours.inputs)
        both: dict[str, list[float]] = {"ours": [], "plain": []}
        for _ in range(3):
            both["ours"].append(seconds(lambda: evaluate(frame, (("y", ours),))))  # noqa: B023
            both["plain"].append(seconds(lambda: nearest(frame, engine)))  # noqa: B023
        mine, yours = median(both["ours"]), median(both["plain"])
        speed = arguments.rows / mine / 1e6
        sys.stdout.write(f"{text:46} {speed:8.1f} M rows/s  {mine / yours:6.2f}\n")
        sys.stdout.flush()


def stored(type_: pa.DataType) -> pa.DataType:
    """As a schema says it."""
    if type_ == pa.large_string():
        return pa.string()
    return pa.list_(type_.value_type) if pa.types.is_large_list(type_) else type_


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--only", default="", help="expressions with this text in them")
    return parser


if __name__ == "__main__":
    main(options().parse_args())
