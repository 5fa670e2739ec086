"""Declarations of changelogs: keys, the column of the kinds, and what is refused."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from sqlwin.errors import InputError, QueryError
from sqlwin.plan.explain.warnings import warnings
from sqlwin.plan.ir.streams import Changelog
from sqlwin.runtime.lowering.chain import chain
from sqlwin.spark.dataframes.binding import check_ordered
from sqlwin.sql import script

UPSERT = "changelog = 'upsert'"
COLUMNS = "id BIGINT, Name STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts"


def declared(key: str, options: str) -> str:
    return f"CREATE TABLE t ({COLUMNS}{key}) WITH ({options})"


@pytest.mark.parametrize(
    ("options", "key", "changelog"),
    [
        ("changelog = 'upsert'", ("id",), Changelog("op", ("id",))),
        ("changelog = 'retract'", (), Changelog("op")),
        ("changelog = 'retract', 'changelog.op' = 'kind'", ("Name", "id"), None),
    ],
)
def test_a_changelog_has_a_column_for_the_kinds_of_its_rows(
    options: str, key: tuple[str, ...], changelog: Changelog | None
) -> None:
    written = f", PRIMARY KEY ({', '.join(key).lower()}) NOT ENFORCED" if key else ""
    (stream,) = script(declared(written, options)).streams
    assert stream.changelog == (changelog or Changelog("kind", key))
    assert stream.columns[-1].name == stream.changelog.op
    assert stream.key == key


@pytest.mark.parametrize(
    ("key", "options", "message", "legal"),
    [
        (
            "",
            "changelog = 'upsert'",
            "changelog = 'upsert' of t needs a key: what a change replaces",
            "PRIMARY KEY (id) NOT ENFORCED",
        ),
        (
            ", PRIMARY KEY (id)",
            "changelog = 'debezium', path = 'x', format = 'csv'",
            "changelog = 'debezium' of t is read from JSON or Avro",
            "format = 'json', changelog = 'upsert'",
        ),
        (", PRIMARY KEY (i)", UPSERT, "PRIMARY KEY names an unknown column i", "id, Name, ts"),
        (", PRIMARY KEY (id, ID)", UPSERT, "PRIMARY KEY names a column twice", "each once"),
        (
            ", PRIMARY KEY (id), PRIMARY KEY (ts)",
            UPSERT,
            "a table has one PRIMARY KEY",
            "PRIMARY KEY (id, day)",
        ),
        (
            ", op INT",
            "changelog = 'retract'",
            "op is the column that says what a change is, and no column of the rows",
            "'changelog.op' = 'another name', or no such column",
        ),
        (
            "",
            "'changelog.op' = 'kind'",
            "stream t has an option 'changelog.op', and no changelog",
            "changelog = 'upsert', 'retract'",
        ),
        (
            "",
            "changelog = 'upsrt'",
            "stream t has an unknown changelog 'upsrt'; did you mean upsert?",
            "append, upsert, retract, debezium",
        ),
    ],
)
def test_what_no_changelog_is(key: str, options: str, message: str, legal: str) -> None:
    with pytest.raises(QueryError) as refusal:
        script(declared(key, options))
    assert (refusal.value.message, refusal.value.legal) == (message, legal)


@pytest.mark.parametrize("written", [", PRIMARY KEY (id)", ", PRIMARY KEY (id) NOT ENFORCED"])
def test_a_key_without_a_changelog_is_information_and_warned_of(written: str) -> None:
    (query,) = script(f"CREATE TABLE t ({COLUMNS}{written}); SELECT id FROM t").queries
    assert list(warnings(query)) == [
        "PRIMARY KEY (id) of t is not enforced: every row of a key counts; changelog = 'upsert' "
        "has each replace the one before it"
    ]


def test_a_key_may_stand_beside_its_column() -> None:
    (stream,) = script(
        "CREATE TABLE t (id BIGINT NOT NULL PRIMARY KEY, n INT) WITH (changelog = 'upsert')"
    ).streams
    assert stream.key == ("id",)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT window_start, SUM(id) AS n FROM SESSION(TABLE t, DESCRIPTOR(ts), "
        "INTERVAL '1' MINUTE) GROUP BY window_start, window_end RETAIN INTERVAL '1' HOUR "
        "EXPIRED EMIT",
        "SELECT * FROM t [RANGE 2 SECONDS]",
    ],
)
def test_what_takes_insertions_alone_is_refused(query: str) -> None:
    with pytest.raises(QueryError, match="of an input whose rows may be retracted"):
        chain(script(declared("", "changelog = 'retract'") + ";" + query).queries[0])


@pytest.mark.parametrize(("offset", "refused"), [("", True), (", OFFSET id", False)])
def test_the_last_change_needs_an_order_which_dataframes_have_by_an_offset_alone(
    offset: str, refused: bool
) -> None:
    (stream,) = script(declared(f"{offset}, PRIMARY KEY (id)", UPSERT)).streams
    with pytest.raises(InputError, match="no order; OFFSET") if refused else nullcontext():
        check_ordered(stream)
