"""What is built has the plan of its SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlwin
from sqlwin import cumulate, hop, over, session, sliding, tumble
from sqlwin.builder.query import QueryBuilder
from sqlwin.errors import InputError, QueryError
from sqlwin.plan.ir.statements import Query
from sqlwin.schema import RESERVED
from sqlwin.sql import script

ORDERS = sqlwin.stream(
    "orders",
    {"id": "BIGINT", "product": "STRING", "value": "BIGINT", "ts": "TIMESTAMP"},
    ts="ts",
    delay="5 seconds",
)
SHIPMENTS = sqlwin.stream("shipments", {"id": "BIGINT", "cost": "INT", "at": "TIMESTAMP"}, ts="at")
PRODUCTS = sqlwin.stream("products", {"product": "STRING", "maker": "STRING"}, static=True)
OTHER_ORDERS = sqlwin.stream("Orders", {"id": "INT", "at": "TIMESTAMP"}, ts="at")
STATIC_ORDERS = sqlwin.stream("orders", {"id": "BIGINT"}, static=True)
MINUTE = ORDERS.window(tumble("1 minute"))
TUMBLE = "FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
EDGES = "window_start, window_end"
LEFT, RIGHT = ORDERS.alias("o"), SHIPMENTS.alias("s")

PAIRS = {
    "stateless": (
        ORDERS.select("product", double="value * 2").where("value > 1", "product IS NOT NULL"),
        "SELECT product, value * 2 AS double FROM orders WHERE value > 1 AND product IS NOT NULL",
    ),
    "a condition with OR": (
        ORDERS.select("id").where("value > 1 OR value < -1", "product IS NOT NULL"),
        "SELECT id FROM orders WHERE (value > 1 OR value < -1) AND product IS NOT NULL",
    ),
    "everything": (ORDERS, "SELECT * FROM orders"),
    "tumble": (
        MINUTE.group_by("product").agg(total="SUM(value)", n="COUNT(*)"),
        f"SELECT product, window_start, window_end, SUM(value) AS total, COUNT(*) AS n {TUMBLE} "
        "GROUP BY product, window_start, window_end",
    ),
    "tumble of all": (
        MINUTE.agg(total="SUM(value)"),
        f"SELECT window_start, window_end, SUM(value) AS total {TUMBLE} "
        "GROUP BY window_start, window_end",
    ),
    "policies": (
        MINUTE.agg(n="COUNT(*)")
        .emit(early="10 seconds", timeout="1 minute", late="30 seconds")
        .retain("1 day")
        .retention("2 days")
        .expired(into="too_late"),
        f"SELECT window_start, window_end, COUNT(*) AS n {TUMBLE} GROUP BY {EDGES} "
        "EMIT EARLY EVERY 10 SECONDS ON CLOSE TIMEOUT 1 MINUTE LATE EVERY 30 SECONDS "
        "RETAIN 1 DAY RETENTION 2 DAYS EXPIRED INTO too_late",
    ),
    "expired": (
        MINUTE.agg(n="COUNT(*)").emit(early=100, late="never").expired("count"),
        f"SELECT window_start, window_end, COUNT(*) AS n {TUMBLE} GROUP BY {EDGES} "
        "EMIT EARLY EVERY 100 ROWS LATE NEVER EXPIRED COUNT",
    ),
    "final": (
        MINUTE.agg(n="COUNT(*)").emit(final=True).retain("1 hour"),
        f"SELECT window_start, window_end, COUNT(*) AS n {TUMBLE} GROUP BY {EDGES} "
        "EMIT FINAL RETAIN 1 HOUR",
    ),
    "first rows": (
        ORDERS.group_by("product").agg(n="COUNT(*)").limit(3, order_by=["-n", "product"]),
        "SELECT product, COUNT(*) AS n FROM orders GROUP BY product "
        "ORDER BY n DESC, product LIMIT 3",
    ),
    "first rows behind others, in brackets": (
        ORDERS.limit(2, order_by="-value", offset=1).as_source("o").select("id"),
        "SELECT id FROM (SELECT * FROM orders ORDER BY value DESC LIMIT 2 OFFSET 1) AS o",
    ),
    "first rows with ties": (
        ORDERS.select("id").limit(2, order_by="ts", ties=True).retain("1 hour"),
        "SELECT id FROM orders ORDER BY ts FETCH FIRST 2 ROWS WITH TIES RETAIN 1 HOUR",
    ),
    "having": (
        MINUTE.where("value > 0").group_by(first="LEFT(product, 1)").agg(n="COUNT(*)")
        .having("COUNT(*) > 2"),
        f"SELECT LEFT(product, 1) AS first, window_start, window_end, COUNT(*) AS n {TUMBLE} "
        "WHERE value > 0 GROUP BY LEFT(product, 1), window_start, window_end HAVING COUNT(*) > 2",
    ),
    "hop": (
        ORDERS.window(hop(size="10 minutes", every="1 minute", offset="30 seconds"))
        .group_by("product").agg(n="COUNT(*)"),
        "SELECT product, window_start, window_end, COUNT(*) AS n FROM HOP(TABLE orders, "
        "DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE, INTERVAL '30' SECOND) "
        "GROUP BY product, window_start, window_end",
    ),
    "cumulate": (
        ORDERS.window(cumulate(size="1 day", step="1 hour")).agg(n="COUNT(*)"),
        "SELECT window_start, window_end, COUNT(*) AS n FROM CUMULATE(TABLE orders, "
        "DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY) GROUP BY window_start, window_end",
    ),
    "cumulate only on update": (
        ORDERS.window(cumulate(size="1 day", step="1 hour", only_on_update=True)).agg(n="COUNT(*)"),
        "SELECT window_start, window_end, COUNT(*) AS n FROM CUMULATE(TABLE orders, "
        "DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY, emitOnlyOnUpdate => TRUE) "
        "GROUP BY window_start, window_end",
    ),
    "session": (
        ORDERS.window(session("30 minutes", partition_by="product", most="4 hours"))
        .agg(n="COUNT(*)"),
        "SELECT product, window_start, window_end, COUNT(*) AS n FROM SESSION(TABLE orders "
        "PARTITION BY product, DESCRIPTOR(ts), INTERVAL '30' MINUTE, max => INTERVAL '4' HOUR) "
        "GROUP BY product, window_start, window_end",
    ),
    "sliding": (
        ORDERS.window(sliding("10 minutes", partition_by="product")).agg(total="SUM(value)"),
        "SELECT product, window_start, window_end, SUM(value) AS total FROM orders OVER "
        "(PARTITION BY product ORDER BY ts RANGE INTERVAL '10' MINUTE PRECEDING)",
    ),
    "sliding rows": (
        ORDERS.window(sliding(rows=9)).agg(total="SUM(value)").retain(rows=100),
        "SELECT window_start, window_end, SUM(value) AS total "
        "FROM orders OVER (ROWS 9 PRECEDING) RETAIN 100 ROWS",
    ),
    "over": (
        ORDERS.select(
            "id",
            total=over("SUM(value)", partition_by="product", order_by="ts", range="10 minutes"),
            last=over("LAG(value)", partition_by="product", order_by="ts"),
            mean=over("AVG(value)", order_by="ts", rows=2, following=1),
            running=over("COUNT(*)", order_by="ts", rows="unbounded"),
        ).emit(late="on update"),
        "SELECT id, SUM(value) OVER (PARTITION BY product ORDER BY ts RANGE BETWEEN "
        "INTERVAL '10' MINUTE PRECEDING AND CURRENT ROW) AS total, "
        "LAG(value) OVER (PARTITION BY product ORDER BY ts) AS last, AVG(value) OVER "
        "(ORDER BY ts ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS mean, "
        "COUNT(*) OVER (ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS running "
        "FROM orders EMIT LATE ON UPDATE",
    ),
    "top-n": (
        ORDERS.select("id", "value", n=over("ROW_NUMBER()", partition_by="product",
                                            order_by="-value")).qualify("n <= 3"),
        "SELECT id, value, ROW_NUMBER() OVER (PARTITION BY product ORDER BY value DESC) AS n "
        "FROM orders QUALIFY n <= 3",
    ),
    "join": (
        LEFT.join(RIGHT, "o.id = s.id AND s.at BETWEEN o.ts AND o.ts + INTERVAL '1' HOUR", "left")
        .select("o.id", "s.cost").retain("1 day"),
        "SELECT o.id, s.cost FROM orders o LEFT JOIN shipments s ON o.id = s.id AND "
        "s.at BETWEEN o.ts AND o.ts + INTERVAL '1' HOUR RETAIN 1 DAY",
    ),
    "join within": (
        LEFT.join(RIGHT, "o.id = s.id", within=("1 hour", "2 hours"), grace="15 minutes")
        .select("o.id", "s.cost"),
        "SELECT o.id, s.cost FROM orders o JOIN shipments s WITHIN (1 HOUR, 2 HOURS) "
        "GRACE PERIOD 15 MINUTES ON o.id = s.id",
    ),
    "join of windows": (
        LEFT.join(SHIPMENTS.window(sliding("2 minutes")).alias("s"), "o.id = s.id").select("o.id"),
        "SELECT o.id FROM orders o JOIN shipments OVER (ORDER BY at RANGE '2' MINUTE PRECEDING) "
        "AS s ON o.id = s.id",
    ),
    "asof": (
        LEFT.join(RIGHT, "o.id = s.id", "left asof", match="s.at <= o.ts").select("o.id", "s.cost"),
        "SELECT o.id, s.cost FROM orders o LEFT ASOF JOIN shipments s "
        "MATCH_CONDITION (s.at <= o.ts) ON o.id = s.id",
    ),
    "static table": (
        LEFT.join(PRODUCTS.alias("p"), "o.product = p.product", "left").select("o.id", "p.maker"),
        "SELECT o.id, p.maker FROM orders o LEFT JOIN products p ON o.product = p.product",
    ),
    "join of a part": (
        LEFT.where("value > 1").join(RIGHT.where("s.cost > 2"), "o.id = s.id", within="1 hour")
        .select("o.id", "s.cost"),
        "SELECT o.id, s.cost FROM (SELECT * FROM orders o WHERE value > 1) o JOIN "
        "(SELECT * FROM shipments s WHERE s.cost > 2) s WITHIN 1 HOUR ON o.id = s.id",
    ),
    "join of results": (
        MINUTE.group_by("product").agg(n="COUNT(*)").emit(late="never").retain("2 hours")
        .alias("c").join(PRODUCTS.alias("p").select("product"), "c.product = p.product")
        .select("c.n"),
        f"SELECT c.n FROM (SELECT product, window_start, window_end, COUNT(*) AS n {TUMBLE} "
        "GROUP BY product, window_start, window_end EMIT LATE NEVER RETAIN 2 HOURS) c "
        "JOIN (SELECT product FROM products) p ON c.product = p.product",
    ),
    "join of a join": (
        LEFT.join(RIGHT, "o.id = s.id", within="1 hour").where("s.cost > 2")
        .select("o.id", "o.product").alias("j")
        .join(PRODUCTS.alias("p"), "j.product = p.product").select("j.id", "p.maker"),
        "SELECT j.id, p.maker FROM (SELECT o.id, o.product FROM orders o JOIN shipments s "
        "WITHIN 1 HOUR ON o.id = s.id WHERE s.cost > 2) j "
        "JOIN products p ON j.product = p.product",
    ),
    "join to a join": (
        PRODUCTS.alias("p").join(
            LEFT.join(RIGHT, "o.id = s.id", within="1 hour").select("o.product").alias("j"),
            "j.product = p.product", "right",
        ).select("p.maker"),
        "SELECT p.maker FROM products p RIGHT JOIN (SELECT o.product FROM orders o JOIN "
        "shipments s WITHIN 1 HOUR ON o.id = s.id) j ON j.product = p.product",
    ),
    "three joins": (
        LEFT.join(PRODUCTS.alias("p"), "o.product = p.product")
        .join(PRODUCTS.alias("q"), "o.product = q.product").select("p.maker"),
        "SELECT p.maker FROM orders o JOIN products p ON o.product = p.product "
        "JOIN products q ON o.product = q.product",
    ),
    "windows of a join": (
        LEFT.join(PRODUCTS.alias("p"), "o.product = p.product").select("o.ts", "p.maker")
        .window(tumble("1 minute"), time="ts").group_by("maker").agg(n="COUNT(*)"),
        "SELECT maker, window_start, window_end, COUNT(*) AS n FROM TUMBLE(TABLE (SELECT o.ts, "
        "p.maker FROM orders o JOIN products p ON o.product = p.product), DESCRIPTOR(ts), "
        "INTERVAL '1' MINUTE) GROUP BY maker, window_start, window_end",
    ),
    "windows of windows": (
        MINUTE.group_by("product").agg(n="COUNT(*)").as_source("c")
        .window(tumble("1 hour"), time="window_end").agg(most="MAX(n)"),
        "SELECT window_start, window_end, MAX(n) AS most FROM TUMBLE(TABLE (SELECT product, "
        f"window_start, window_end, COUNT(*) AS n {TUMBLE} GROUP BY product, window_start, "
        "window_end), DESCRIPTOR(window_end), INTERVAL '1' HOUR) AS c "
        "GROUP BY window_start, window_end",
    ),
    "a chosen list of a group": (
        MINUTE.group_by("product", day="DATE(ts)").select("product", "day", "window_start",
                                                          n="COUNT(*)"),
        f"SELECT product, DATE(ts) AS day, window_start, COUNT(*) AS n {TUMBLE} "
        "GROUP BY product, DATE(ts)",
    ),
    "a window that comes last": (
        ORDERS.group_by("product").agg(n="COUNT(*)").window(tumble("1 minute")),
        f"SELECT product, window_start, window_end, COUNT(*) AS n {TUMBLE} "
        "GROUP BY product, window_start, window_end",
    ),
    "texts like comments": (
        ORDERS.select("id", dashes="'--'", stars="'a/*b'").where("product <> '-- */'"),
        "SELECT id, '--' AS dashes, 'a/*b' AS stars FROM orders WHERE product <> '-- */'",
    ),
    "distinct": (ORDERS.select("product").distinct(), "SELECT DISTINCT product FROM orders"),
}  # fmt: skip


def of_sql(text: str, params: Mapping[str, str] | None = None) -> Query:
    every = {**LEFT.declared, **RIGHT.declared}
    (query,) = script(text, every, params, tables=PRODUCTS.static).queries
    return query


@pytest.mark.parametrize(("built", "text"), PAIRS.values(), ids=PAIRS)
def test_the_plan_is_that_of_the_sql(built: QueryBuilder, text: str) -> None:
    (query,) = built.script().queries
    assert query.plan == of_sql(text).plan


LENGTHS = st.integers(1, 90)


@given(LENGTHS, LENGTHS, LENGTHS, st.booleans(), st.sampled_from(["on update", "never"]))
def test_lengths_and_clauses_may_be_any(
    size: int, retain: int, early: int, keyed: bool, late: str
) -> None:
    keys = ("product",) if keyed else ()
    built = (
        ORDERS.window(tumble(timedelta(minutes=size))).group_by(*keys).agg(n="COUNT(*)")
        .retain(f"{retain} hours").emit(early=f"{early} seconds", late=late)
    )  # fmt: skip
    key = "product, " if keyed else ""
    text = (
        f"SELECT {key}window_start, window_end, COUNT(*) AS n FROM TUMBLE(TABLE orders, "
        f"DESCRIPTOR(ts), INTERVAL '{size}' MINUTE) GROUP BY {key}window_start, window_end "
        f"EMIT EARLY EVERY {early} SECONDS LATE {late.upper()} RETAIN {retain} HOURS"
    )
    assert built.script().queries[0].plan == of_sql(text).plan


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12))
def test_a_name_is_only_ever_a_name(text: str) -> None:
    """Whatever it holds: quotes, brackets, words of SQL."""
    built = ORDERS.select(**{text: "value"})
    refused = "sqlwin's own" if text.startswith(RESERVED) else "variable of a Spark session"
    if text.startswith(RESERVED) or re.search(r"\$\{\S+\}", text):
        with pytest.raises(QueryError, match=refused):
            built.script()
        return
    (query,) = built.script().queries
    assert [column.name for column in query.plan.schema] == [text]


@pytest.mark.parametrize(
    "text",
    ["", "value,", "value, ts", "value FROM orders", "value; SELECT 1", "(value", "value)", "1 --",
     "value /* all */", "value FROM x WHERE TRUE", "value FROM x GROUP BY 1", "DISTINCT value",
     "value AS m", "value m", "*", "orders.*", "* EXCEPT (id)", "value /*", "'-- */' /* '", 5],
)  # fmt: skip
def test_an_expression_is_one_expression(text: str) -> None:
    for build in (
        lambda: ORDERS.select(n=text),
        lambda: ORDERS.where(text),
        lambda: ORDERS.where("TRUE", text),
        lambda: over(text),
    ):
        with pytest.raises(InputError, match="expression"):
            build()


def test_parameters_get_their_values_when_it_is_bound() -> None:
    built = ORDERS.select("product").where("value > :least")
    text = "SELECT product FROM orders WHERE value > 3"
    assert built.script({"least": "3"}).queries[0].plan == of_sql(text).plan


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tumble("1 fortnight"), "FORTNIGHT is not a unit of time"),
        (lambda: tumble(timedelta(-1)), "no duration"),
        (lambda: sliding(), "in time, or in rows"),
        (lambda: PRODUCTS.window(tumble("1 minute")).agg(n="COUNT(*)").sql(), "event time"),
        (lambda: ORDERS.emit(), "emit says when"),
        (lambda: ORDERS.retain(), "retain says how long"),
        (lambda: ORDERS.retain(rows=-1), "no count of rows"),
        (lambda: sliding(rows=2.5), "2.5 is no count of rows"),
        (lambda: sliding(rows=-2), "-2 is no count of rows"),
        (lambda: over("COUNT(*)", order_by="ts", rows=-2), "-2 is no count of rows"),
        (lambda: over("COUNT(*)", order_by="ts", rows=2.5), "2.5 is no count of rows"),
        (lambda: over("COUNT(*)", order_by="ts", rows="5 minutes"), "no count of rows"),
        (lambda: over("COUNT(*)", order_by="ts", rows=True), "True is no count of rows"),
        (lambda: over("COUNT(*)", order_by="ts", rows=1, following=-1), "no count of rows"),
        (lambda: over("COUNT(*)", order_by="ts", range=5), "5 is no duration"),
        (lambda: LEFT.join(RIGHT, "TRUE", "left; DROP"), "'left; DROP' is no join; legal is inn"),
        (lambda: LEFT.join(OTHER_ORDERS.alias("x"), "TRUE"), "Orders is the name of two diff"),
        (lambda: LEFT.join(STATIC_ORDERS.alias("x"), "TRUE"), "orders is the name of two diff"),
        (lambda: MINUTE.window(hop(size="2 minutes", every="1 minute")), "another window"),
        (lambda: ORDERS.select(5), "5 is no name"),
        (lambda: ORDERS.expired(), "expired says one thing"),
        (lambda: LEFT.join(RIGHT, "o.id = s.id", grace="1 minute"), "a grace belongs to within"),
        (lambda: ORDERS.where("value > 1").join(RIGHT, "TRUE"), r"needs a name: \.alias\('o'\)"),
        (lambda: LEFT.join(SHIPMENTS.select("id"), "TRUE"), "needs a name"),
        (lambda: PRODUCTS.join(LEFT.join(RIGHT, "TRUE"), "TRUE"), "needs a name"),
        (lambda: LEFT.join(RIGHT, "TRUE").where("TRUE").join(PRODUCTS, "TRUE"), "needs a name"),
        (lambda: over("SUM(value)", range="1 minute", rows=1), "in time, by range, or in rows"),
        (lambda: over("SUM(value)", following=1), "how far it reaches before"),
    ],
)
def test_a_mistake_is_told_where_it_is_made(build, message) -> None:
    with pytest.raises(InputError, match=message):
        build()


def test_a_query_in_an_expression_reads_streams_that_are_given() -> None:
    makers = sqlwin.stream(pa.schema([("maker", pa.string())]))
    built = ORDERS.select("id").where("product IN (SELECT maker FROM makers)")
    assert sqlwin.query(built, tables={"makers": makers}).streams == ("orders", "makers")
    with pytest.raises(InputError, match="orders is the name of two different streams"):
        sqlwin.query(ORDERS, streams={"orders": makers})


def test_a_builder_never_changes() -> None:
    before = MINUTE.sql()
    MINUTE.agg(n="COUNT(*)").retain("1 hour")
    assert MINUTE.sql() == before


def test_explain_and_a_notebook_show_the_plan() -> None:
    built = MINUTE.agg(n="COUNT(*)")
    assert "tumbling 1 minute" in sqlwin.explain(built)
    assert "COUNT(*) AS `n`" in built._repr_html_()
