"""Avro values of topics, read and written, with a registry of schemas and without."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterator
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import polars as pl
import pytest

from sqlwin.errors import QueryError, RunError
from sqlwin.runtime.kafka.avro import Avro
from sqlwin.runtime.kafka.registry import Registry
from tests.support import registry as registries
from tests.support.kafka import Broker
from tests.support.registry import SchemaRegistry
from tests.support.runtime.avro import bare
from tests.support.runtime.topics import HOSTS, ran, written

ORDER: dict[str, Any] = {
    "type": "record",
    "name": "order",
    "fields": [
        {"name": "product", "type": ["null", "string"], "default": None},
        {"name": "n", "type": "long"},
        {"name": "ts", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}
OLD = {**ORDER, "fields": [*ORDER["fields"][1:], {"name": "price", "type": "double"}]}
"""An earlier one, with a field that no column has, and without a product."""

TOTALS = """
CREATE STREAM orders (product STRING, n BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (
  connector = 'kafka', servers = '{servers}', topic = '{topic}', format = 'avro', {avro}
);
CREATE SINK totals WITH (
  connector = 'kafka', servers = '{servers}', topic = '{topic}_out', changelog = 'append',
  format = 'avro', {avro}
);
CREATE SINK bad WITH (connector = 'files', path = 'bad');
INSERT INTO totals SELECT window_start, product, SUM(n) AS n
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end, product EMIT FINAL EXPIRED INTO bad
"""


def framed(number: int, schema: Any, record: dict[str, Any]) -> bytes:
    return struct.pack(">bI", 0, number) + bare(schema, record)


def at(minute: int) -> datetime:
    return datetime(2024, 1, 1, 9, minute, tzinfo=timezone.utc)


@pytest.fixture
def registry() -> Iterator[SchemaRegistry]:
    with registries.running("me:hunter2") as found:
        yield found


@pytest.mark.long
@pytest.mark.parametrize("host", HOSTS)
def test_values_by_a_registry(
    broker: Broker, registry: SchemaRegistry, tmp_path: Path, host: str
) -> None:
    new, old = registry.add(ORDER), registry.add(OLD)
    topic = broker.topic(f"avro_{host}")
    broker.topic(f"{topic}_out")
    tea = framed(new, ORDER, {"product": "tea", "n": 3, "ts": at(0)})
    unnamed = framed(old, OLD, {"n": 4, "ts": at(1), "price": 0.5})
    wrong = [b'{"n": 3}', struct.pack(">bI", 0, 99), tea[:-1], tea + b"x", None]
    broker.send(topic, tea, *wrong, unnamed)
    (tmp_path / "secret").write_text("me:hunter2")
    avro = (
        f"'avro.schema.registry.url' = '{registry.url}', "
        f"'avro.schema.registry.credentials' = '${{file:{tmp_path}/secret}}'"
    )
    text = TOTALS.format(servers=broker.address, topic=topic, avro=avro)
    ran(text, tmp_path, host, drain=True)
    (number,) = set(registry.subjects[f"{topic}_out-value"])
    schema = json.loads(registry.schemas[number - 1])
    found = []
    for record in broker.read(f"{topic}_out"):
        assert record.value()[:5] == struct.pack(">bI", 0, number)
        found.append(fastavro.schemaless_reader(io.BytesIO(record.value()[5:]), schema, None))
    assert found == [
        {"window_start": at(0), "product": "tea", "n": 3},
        {"window_start": at(1), "product": None, "n": 4},
    ]
    errors = {row["position"]: row["reason"] for row in written(tmp_path, "bad")}
    assert {place: why.split(":")[0] for place, why in errors.items()} == {
        f"{topic}/0:{offset}": "malformed" for offset in range(1, 6)
    }
    assert "does not begin with 0 and the number of a schema" in errors[f"{topic}/0:1"]
    assert "the schema registry has no schema 99" in errors[f"{topic}/0:2"]
    assert "does not fit its schema" in errors[f"{topic}/0:3"]
    assert "1 bytes behind its value" in errors[f"{topic}/0:4"]


TYPES = pl.DataFrame(
    {
        "at": [at(0), None],
        "n": [1, None],
        "f": [0.5, None],
        "s": ["é", None],
        "b": [True, None],
        "d": [Decimal("1.50"), None],
        "day": [at(0).date(), None],
        "some": [[1, 2], None],
        "both": [{"x": 1, "y": "z"}, None],
    },
    schema_overrides={"at": pl.Datetime("us", "UTC"), "d": pl.Decimal(10, 2)},
)


def test_values_of_any_type_come_back() -> None:
    from sqlwin.runtime.kafka.avro_schema import schema_of
    from sqlwin.schema import Column

    text = json.dumps(schema_of(TYPES, "t"))
    codec = Avro("t", None, text)
    columns = tuple(Column(field.name, field.type) for field in TYPES.to_arrow().schema)
    import pyarrow as pa

    plain = tuple(
        Column(c.name, pa.string() if c.type == pa.large_string() else c.type)
        for c in columns
        if not pa.types.is_nested(c.type)
    )
    rows, bad = codec.decoded(list(codec.encoded(TYPES)), plain)
    assert bad == {}
    assert rows.rows.rows() == TYPES.select(c.name for c in plain).rows()


def test_a_schema_given_is_the_readers(registry: SchemaRegistry) -> None:
    import pyarrow as pa

    from sqlwin.schema import Column

    fields = [{"name": "amount", "type": "long", "aliases": ["n"]}]
    given = {"type": "record", "name": "order", "fields": fields}
    codec = Avro("t", Registry(registry.url, "me:hunter2"), json.dumps(given))
    value = framed(registry.add(ORDER), ORDER, {"product": "tea", "n": 3, "ts": at(0)})
    rows, _ = codec.decoded([value] * 3, (Column("amount", pa.int64()),))
    assert rows.rows["amount"].to_list() == [3] * 3
    assert registry.requested == ["/schemas/ids/1"]


def test_a_registry_that_refuses_or_is_away(registry: SchemaRegistry) -> None:
    value = framed(registry.add(ORDER), ORDER, {"product": "tea", "n": 3, "ts": at(0)})
    for url, message in [(registry.url, "Unauthorized"), ("http://127.0.0.1:1", "refused")]:
        codec = Avro("t", Registry(url, "me:wrong", wait=0.5), None)
        with pytest.raises(
            RunError, match=f"the schema registry {url} does not answer .*{message}"
        ):
            codec.decoded([value], ())


def test_names_that_avro_has_not() -> None:
    from sqlwin.runtime.kafka.avro_schema import schema_of

    with pytest.raises(QueryError, match="Avro has no field 'a b'"):
        schema_of(pl.DataFrame({"a b": [1]}), "t")
