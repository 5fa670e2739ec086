"""Records of a topic that is a changelog, without a broker: a row or an error each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from sqlwin.errors import QueryError
from sqlwin.runtime.kafka.declared import declared
from sqlwin.runtime.kafka.sink import KafkaSink
from sqlwin.runtime.kafka.values import Values
from sqlwin.sql import script
from tests.support.runtime.avro import bare

TIMED = "id BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts"
KEYED = "id BIGINT, product STRING, n BIGINT, PRIMARY KEY (id)"


@dataclass(frozen=True)
class Record:
    given_key: bytes | None
    given: bytes | None
    kind: bytes | None = None

    def key(self) -> bytes | None:
        return self.given_key

    def value(self) -> bytes | None:
        return self.given

    def headers(self) -> list[tuple[str, bytes | None]]:
        return [("kind", self.kind)]


def values(columns: str, options: str) -> Values:
    text = f"CREATE TABLE t ({columns}) WITH (connector = 'kafka', servers = 'h:1', topic = 't', "
    (stream,) = script(f"{text}{options})").streams
    return declared(stream).values


def rows(found: Values, *came: Record) -> tuple[list[Any], dict[int, str]]:
    taken, keep, bad = found.rows(found.counted(came))
    assert sorted([*keep, *bad]) == list(range(len(found.counted(came))))
    return taken.rows(), bad


VALUE = b'{"id": 1, "product": "tea", "n": 5}'
OF_TEXT = "k STRING, v STRING, PRIMARY KEY (k)"
HUGE = "12345678901234567890123456789012345678"
ID_HUGE = f'{{"id": {HUGE}}}'.encode()
GONE = (1, None, None, "-D")


@pytest.mark.parametrize(
    ("columns", "options", "value", "key", "row"),
    [
        (KEYED, "changelog = 'upsert'", VALUE, b"1", GONE),
        (KEYED, "changelog = 'upsert'", VALUE, b'{"id": 1}', GONE),
        (KEYED, "changelog = 'upsert'", VALUE, b'{"schema": {}, "payload": {"id": 1}}', GONE),
        (KEYED, "changelog = 'retract'", VALUE, b"1", GONE),
        (KEYED, "changelog = 'upsert', format = 'csv'", b"1,tea,5,", b"1", GONE),
        (KEYED.replace("(id)", "(id, product)"), "changelog = 'upsert'", VALUE,
         b'{"product": "tea", "id": "1"}', (1, "tea", None, "-D")),
        (KEYED.replace("(id)", "(product)"), "changelog = 'upsert'", VALUE,
         b"a {tea}", (None, "a {tea}", None, "-D")),
        ("k STRING, v STRING, PRIMARY KEY (k)",
         "changelog = 'upsert', format = 'raw', metadata = 'k = key'", b"\xc3\xa9", b"1",
         ("1", None, "-D")),
        ("id BIGINT, kind BINARY, PRIMARY KEY (id)",
         "changelog = 'upsert', metadata = 'kind = header.kind'", b'{"id": 1}', b"1",
         (1, None, "-D")),
        (OF_TEXT, "changelog = 'upsert'", b'{"k": "tea"}', b'"t\\u0065a"', ("tea", None, "-D")),
        (OF_TEXT, "changelog = 'upsert'", b'{"k": "tea"}', b' {"k": 1.50}', ("1.50", None, "-D")),
        (OF_TEXT, "changelog = 'upsert'", b'{"k": "tea"}',
         b'{"schema": {}, "payload": "tea"}', ("tea", None, "-D")),
        (OF_TEXT, "changelog = 'upsert'", b'{"k": "tea"}',
         b'{"payload": "{}", "k": "tea"}', ("tea", None, "-D")),
        (OF_TEXT, "changelog = 'upsert'", b'{"k": "tea"}',
         b'{"payload": {"k": {"a": 1}}}', ('{"a": 1}', None, "-D")),
        (OF_TEXT.replace("k STRING", "k BINARY"), "changelog = 'upsert'", b'{"k": "tea"}',
         b'\xff"', (b'\xff"', None, "-D")),
        (KEYED, "changelog = 'upsert'", VALUE, b'{"payload": 1}', GONE),
        (KEYED.replace("(id)", "(id, n)"), "changelog = 'upsert'", VALUE,
         b'{"id": 1, "n": null}', GONE),
        *((f"id {type_}, n BIGINT, PRIMARY KEY (id)", "changelog = 'upsert'", b'{"id": 1, "n": 1}',
           key, (Decimal(HUGE) if type_[:2] == "DE" else HUGE, None, "-D"))
          for type_ in ("DECIMAL(38, 0)", "STRING") for key in (HUGE.encode(), ID_HUGE)),
    ],
)  # fmt: skip
def test_a_record_without_a_value_deletes_its_key(
    columns: str, options: str, value: bytes, key: bytes, row: tuple[Any, ...]
) -> None:
    found, bad = rows(values(columns, options), Record(key, value), Record(key, None))
    assert (len(found), found[1], bad) == (2, row, {})
    assert found[0][-1] is None


@pytest.mark.parametrize(
    ("columns", "options", "key", "why"),
    [
        (KEYED, "changelog = 'upsert'", None, "the record has no value and no key"),
        (KEYED, "changelog = 'upsert'", b"x", "id is 'x', not a BIGINT"),
        (KEYED, "changelog = 'upsert'", b"\xff", "no value, and its key is"),
        (KEYED.replace("(id)", "(id, n)"), "changelog = 'upsert'", b"1", "its key no id and n: 1"),
        (OF_TEXT, "changelog = 'upsert'", b'{"other": "tea"}', 'no k: {"other": "tea"}'),
        (OF_TEXT, "changelog = 'upsert'", b'{"payload": {"other": "tea"}}', "its key no k"),
        (OF_TEXT, "changelog = 'upsert'", b"{tea}", "its key is no JSON object: {tea}"),
        (OF_TEXT, "changelog = 'upsert'", b'"tea', 'its key is no JSON: "tea'),
        (OF_TEXT, "changelog = 'upsert'", b'"a", "k": "b"', "its key is no JSON: "),
        (OF_TEXT, "changelog = 'upsert'", b"\0\0\0\0\x07\x06tea", "in Avro's wire format"),
        (OF_TEXT, "changelog = 'upsert'", b'{"k":' * 100_000, "nested deeper than 500 levels"),
        (
            OF_TEXT,
            "changelog = 'upsert'",
            b'{"k": ' + b"[" * 501 + b"]" * 501 + b"}",
            "deeper than",
        ),
        ("id BIGINT", "changelog = 'retract'", b"1", "the record has no value"),
        (
            "id BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts",
            "wait = '1 s'",
            b"1",
            "the record has no value",
        ),
    ],
)
def test_one_whose_key_is_none_is_malformed(
    columns: str, options: str, key: bytes | None, why: str
) -> None:
    found, bad = rows(values(columns, options), Record(key, None))
    assert found == []
    assert why in bad[0]


ENVELOPE = {
    "type": "record",
    "name": "envelope",
    "fields": [
        {"name": "before", "type": ["null", {
            "type": "record", "name": "row",
            "fields": [{"name": "id", "type": "long"}, {"name": "product", "type": "string"},
                       {"name": "n", "type": "long"}]}]},
        {"name": "after", "type": ["null", "row"]},
        {"name": "op", "type": "string"},
    ],
}  # fmt: skip


def test_envelopes_in_avro() -> None:
    tea = {"id": 1, "product": "tea", "n": 5}
    changes = [("c", None, tea), ("u", tea, {**tea, "n": 6}), ("d", tea, None)]
    schema = json.dumps(ENVELOPE)
    found = values(KEYED, f"changelog = 'debezium', format = 'avro', 'avro.schema' = '{schema}'")
    came = [
        Record(b"k", bare(ENVELOPE, {"op": op, "before": before, "after": after}))
        for op, before, after in changes
    ]
    taken, bad = rows(found, *came, Record(b"k", None), Record(b"k", b"\xff"))
    assert taken == [(1, "tea", 5, "c"), (1, "tea", 6, "u"), (1, "tea", 5, "d")]
    assert list(bad) == [3]


def test_only_an_envelope_says_what_its_change_is() -> None:
    with pytest.raises(QueryError, match="metadata of stream t names op, which an envelope has"):
        values(KEYED, "changelog = 'debezium', metadata = 'op = header.kind'")


def test_a_header_may_say_what_a_change_is() -> None:
    found = values(KEYED, "changelog = 'upsert', metadata = 'op = header.kind'")
    taken, _ = rows(found, Record(b"1", VALUE, b"+U"), Record(b"1", None, b"+U"))
    assert taken == [(1, "tea", 5, "+U"), GONE]


@pytest.mark.parametrize("key", ["tea", '"tea"', "{tea}", '{"k": 1}', " {", "\0tea", "a\nb", ""])
def test_keys_that_a_sink_writes_are_those_that_are_read(key: str) -> None:
    sink = KafkaSink("s", "t", {}, ("k",), "upsert", "id", 1.0)
    results = pl.DataFrame({"k": [key], "v": ["x"], "op": ["-D"], "row_key": ["r"]})
    ((written, value),) = sink.records(results)
    assert (written is not None, value) == (True, None)
    taken, bad = rows(values(OF_TEXT, "changelog = 'upsert'"), Record(str(written).encode(), None))
    assert (taken, bad) == ([(key, None, "-D")], {})
