"""EXPLAIN of joins: keys, the window in words, message keys, policies, warnings."""

from __future__ import annotations

from sqlwin.plan.explain.statements import answers
from sqlwin.plan.properties.facts import (
    bucket_keys,
    streams_of,
)
from sqlwin.runtime.lowering.explained import explain
from sqlwin.sql import script
from tests.support.sql.joins import STREAMS, join, query

ON = "ON o.id = s.id"


def facts(text: str) -> list[str]:
    reported = explain(query(text)).splitlines()
    return reported[next(at for at, line in enumerate(reported) if line.startswith("Operator")) :]


def fact(text: str, name: str) -> str:
    (reported,) = [line for line in facts(text) if line.startswith(f"{name}: ")]
    return reported.removeprefix(f"{name}: ")


def warned(text: str) -> list[str]:
    return [line.removeprefix("Warning: ") for line in facts(text) if line.startswith("Warning")]


BOTH = (
    "rows of orders and shipments are kept for ever, so state grows until a RETAIN or TTL is given"
)
SEEN = (
    "the positions of all messages of orders are kept to recognise replays, so state grows for ever"
)


def test_a_ttl_bounds_what_no_window_does() -> None:
    text = f"SELECT /*+ STATE_TTL('o' = '1 day') */ value FROM orders o JOIN shipments s {ON}"
    assert warned(text) == [BOTH.replace("orders and ", ""), SEEN]
    assert "left_ttl_entries (TTL entries of left rows)" in fact(text, "Stores")
    assert fact(text, "State TTL").startswith("of orders 1 day of processing time")
    both = text.replace("'1 day'", "'1 day', 's' = '1 day'")
    assert warned(both) == [SEEN]
    assert fact(both, "State TTL").startswith("1 day of processing time")
    apart = text.replace("'1 day'", "'1 day', 's' = '2 h'")
    reported = [line for line in explain(query(apart)).splitlines() if line.startswith("State TTL")]
    assert [line.split(" of processing")[0] for line in reported] == [
        "State TTL: of orders 1 day",
        "State TTL: of shipments 2 hours",
    ]


def test_the_same_text_is_reported_the_same() -> None:
    text = f"SELECT * FROM orders o FULL JOIN shipments s WITHIN 1 HOUR {ON}"
    assert explain(query(text)) == explain(query(text))


def test_what_a_join_reads_and_goes_by() -> None:
    made = join(f"SELECT value FROM orders o JOIN shipments s {ON}")
    assert [stream.name for stream in streams_of(made)] == ["orders", "shipments"]
    assert bucket_keys(made) == ("o.id",)


def test_a_static_table_is_described() -> None:
    assert answers(script(STREAMS + "DESCRIBE products"), explain) == [
        "products\n  product  STRING\n  maker    STRING"
    ]
