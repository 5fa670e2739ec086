# ruff: noqa: E501
"""Dates, instants, intervals and their patterns: what Spark 4.3 answers to the same expressions."""

from __future__ import annotations

import pyarrow as pa
import pytest
import sqlglot

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.types import STRING, name
from sqlwin.sandbox.running import Failed, run
from sqlwin.schema import Column
from sqlwin.sql.expressions.compile.compiled import compiled
from sqlwin.sql.expressions.compile.compiler import Uncompiled
from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark

ROW = pa.table({"x": [1]})
D, T = "DATE'2024-02-29'", "TIMESTAMP'2024-02-29 10:11:12.123456'"
BC = "TIMESTAMP'-0044-03-15 12:00:00.5'"


def parsed(text: str) -> tuple[str, str | None]:
    """Type and value, as Spark prints them."""
    made = compiled(sqlglot.parse_one(text, read=SqlwinSpark), (Column("x", pa.int64()),))
    shown = made if made.type == STRING else cast(made, STRING)
    value: str | None = run(ROW, f"SELECT {shown.sql} AS x FROM rows")["x"][0].as_py()
    return name(made.type), value


FACTS = [
    # parts
    (f"year({BC})", "int", "-44"),
    (f"dayofweek({D})", "int", "5"),
    (f"weekday({T})", "int", "3"),
    (f"weekofyear({BC})", "int", "11"),
    (f"extract(SECOND FROM {T})", "decimal(8,6)", "12.123456"),
    (f"extract(DOW_ISO FROM {D})", "int", "4"),
    (f"extract(HOUR FROM {D})", "int", "0"),
    ("date_part('sec', '2024-02-29 10:11:12.5')", "decimal(8,6)", "12.500000"),
    ("date_part('MONTH', INTERVAL '-1-2' YEAR TO MONTH)", "tinyint", "-2"),
    ("date_part('SECOND', INTERVAL '-1 2:03:04.567' DAY TO SECOND)", "decimal(8,6)", "-4.567000"),
    (f"dayname({D})", "string", "Thu"),
    # sums and differences
    (f"date_add({D}, 1)", "date", "2024-03-01"),
    (f"date_add({D}, 2147483647)", "date", "-5877587-08-19"),
    (f"date_add(QUARTER, 5, {D})", "timestamp", "2025-05-29 00:00:00"),
    ("timestampdiff(HOUR, TIMESTAMP'2024-01-01 10:59:00', TIMESTAMP'2024-01-01 11:01:00')", "bigint", "0"),
    ("timestampdiff(MONTH, TIMESTAMP'2024-03-31 10:59:00', TIMESTAMP'2021-02-28 11:01:00.5')", "bigint", "-36"),
    ("datediff(SECOND, TIMESTAMP'2024-01-01 00:00:00', TIMESTAMP'2024-01-01 00:00:29')", "bigint", "29"),
    (f"datediff({D}, TIMESTAMP'2023-02-28 23:00:00')", "int", "366"),
    ("add_months(DATE'2024-01-31', 1)", "date", "2024-02-29"),
    ("months_between(TIMESTAMP'1997-02-28 10:30:00', DATE'1996-10-30')", "double", "3.94959677"),
    (f"next_day({D}, 'MO')", "date", "2024-03-04"),
    (f"trunc({D}, 'Q')", "date", None),
    (f"trunc({D}, 'week')", "date", "2024-02-26"),
    (f"date_trunc('QUARTER', {BC})", "timestamp", "-0044-01-01 00:00:00"),
    (f"{D} + INTERVAL 1 DAY", "date", "2024-03-01"),
    (f"{D} + INTERVAL '24' HOUR", "timestamp", "2024-03-01 00:00:00"),
    (f"{D} - INTERVAL 1 DAY + 1", "date", "2024-02-29"),
    (f"1 + {D}", "date", "2024-03-01"),
    (f"{D} - DATE'2023-02-28'", "interval day", "INTERVAL '366' DAY"),
    (f"{T} - DATE'2024-02-28'", "interval day to second", "INTERVAL '1 10:11:12.123456' DAY TO SECOND"),
    ("'2024-02-29' + INTERVAL '1' DAY", "string", "2024-03-01 00:00:00"),
    # made
    ("make_date(-44, 3, 15)", "date", "-0044-03-15"),
    ("make_timestamp(2024, 2, 29, 10, 11, 60)", "timestamp", "2024-02-29 10:12:00"),
    ("make_timestamp(2024, 10, 27, 2, 30, 0, 'Europe/Paris')", "timestamp", "2024-10-27 00:30:00"),
    ("try_make_timestamp(2024, 2, 30, 1, 1, 1)", "timestamp", None),
    ("timestamp_seconds(1.5)", "timestamp", "1970-01-01 00:00:01.5"),
    ("timestamp_seconds(CAST('NaN' AS DOUBLE))", "timestamp", None),
    ("unix_millis(TIMESTAMP'1969-12-31 23:59:59.9995')", "bigint", "-1"),
    ("unix_timestamp(TIMESTAMP'1969-12-31 23:59:59.9995')", "bigint", "0"),
    # zones
    ("from_utc_timestamp(TIMESTAMP'2016-08-31 00:00:00', 'Asia/Seoul')", "timestamp", "2016-08-31 09:00:00"),
    ("from_utc_timestamp(TIMESTAMP'1800-07-01 00:00:00', 'Europe/Paris')", "timestamp", "1800-07-01 00:09:21"),
    ("from_utc_timestamp(TIMESTAMP'12024-07-01 00:00:00', 'Europe/Paris')", "timestamp", "+12024-07-01 02:00:00"),
    ("to_utc_timestamp(TIMESTAMP'2024-03-31 02:30:00', 'Europe/Paris')", "timestamp", "2024-03-31 01:30:00"),
    # casts
    ("CAST('2024-02-29 10:11:12.5 PST' AS TIMESTAMP)", "timestamp", "2024-02-29 18:11:12.5"),
    ("CAST('2024-02-29Tfoo' AS DATE)", "date", "2024-02-29"),
    ("CAST('epoch' AS DATE)", "date", "1970-01-01"),
    ("TRY_CAST('2023-02-29' AS DATE)", "date", None),
    ("CAST(TIMESTAMP'1969-12-31 23:59:59.5' AS BIGINT)", "bigint", "-1"),
    ("CAST(-1.5 AS TIMESTAMP)", "timestamp", "1969-12-31 23:59:58.5"),
    ("CAST(INTERVAL '1.5' SECOND AS STRING)", "string", "INTERVAL '01.5' SECOND"),
    ("CAST('1 02:03:04.5' AS INTERVAL DAY TO SECOND)", "interval day to second", "INTERVAL '1 02:03:04.5' DAY TO SECOND"),
    ("CAST(INTERVAL '400' MONTH AS INTERVAL YEAR)", "interval year", "INTERVAL '33' YEAR"),
    ("CAST(1.5 AS INTERVAL MONTH)", "interval month", "INTERVAL '2' MONTH"),
    ("+'1'", "double", "1.0"),
    ("+1.50", "decimal(3,2)", "1.50"),
    # intervals
    ("INTERVAL 1 DAY 2 HOURS", "interval day to hour", "INTERVAL '1 02' DAY TO HOUR"),
    ("interval '1 day 2 hours'", "interval day to hour", "INTERVAL '1 02' DAY TO HOUR"),
    ("INTERVAL -'1-2' YEAR TO MONTH", "interval year to month", "INTERVAL '-1-2' YEAR TO MONTH"),
    ("INTERVAL '1' DAY * 1.5", "interval day to second", "INTERVAL '1 12:00:00' DAY TO SECOND"),
    ("INTERVAL '3' MONTH / 2", "interval year to month", "INTERVAL '0-2' YEAR TO MONTH"),
    ("INTERVAL '-25' HOUR div INTERVAL '1' DAY", "bigint", "-1"),
    ("INTERVAL '1' DAY = INTERVAL '24' HOUR", "boolean", "true"),
    ("make_dt_interval(1, 25)", "interval day to second", "INTERVAL '2 01:00:00' DAY TO SECOND"),
    ("try_add(INTERVAL '100000000' DAY, INTERVAL '100000000' DAY)", "interval day", None),
    # patterns
    (f"date_format({T}, 'yyyy-MM-dd''T''HH:mm:ss.SSSXXX')", "string", "2024-02-29T10:11:12.123Z"),
    (f"date_format({BC}, 'Gyyyy y yy QQQ QQQQ D EEEE a h')", "string", "BC0045 45 45 Q1 1st quarter 75 Thursday PM 12"),
    ("date_format(TIMESTAMP'+10000-01-01 00:00:00', 'yyyy y yyyyyy')", "string", "+10000 10000 010000"),
    ("to_timestamp('2024-02-29 10:11:12.5', 'yyyy-MM-dd HH:mm:ss.SSS')", "timestamp", "2024-02-29 10:11:12.5"),
    ("to_timestamp('20240229 10:11 pm', 'yyyyMMdd hh:mm a')", "timestamp", "2024-02-29 22:11:00"),
    ("to_timestamp('2024-02-29', 'yyyy-MM-dd[ HH:mm]')", "timestamp", "2024-02-29 00:00:00"),
    ("to_timestamp('2024-02-29T10:11:12+0230', 'yyyy-MM-dd''T''HH:mm:ssX')", "timestamp", "2024-02-29 07:41:12"),
    ("to_timestamp('2024-60', 'yyyy-D')", "timestamp", "2024-02-29 00:00:00"),
    ("to_timestamp('44 BC', 'y G')", "timestamp", "-0043-01-01 00:00:00"),
    ("to_date('2024-02-29T23:30:00-05:00', 'yyyy-MM-dd''T''HH:mm:ssXXX')", "date", "2024-03-01"),
    ("try_to_timestamp('2024-2-9', 'yyyy-MM-dd')", "timestamp", None),
    ("from_unixtime(253402300800)", "string", "+10000-01-01 00:00:00"),
    ("to_timestamp('2020-30-365', 'yyyy-dd-DDD')", "timestamp", "2020-12-30 00:00:00"),
    ("try_to_timestamp(1)", "timestamp", "1970-01-01 00:00:01"),
    # NULLs, of which the type counts
    ("next_day(NULL, 'xx')", "date", None),
    ("date_part(NULL, INTERVAL '2-1' YEAR TO MONTH)", "double", None),
    (f"{D} + NULL", "timestamp", None),
    ("make_timestamp(DATE'2024-02-29')", "timestamp", "2024-02-29 00:00:00"),
    (f"make_timestamp({D}, NULL, 'UTC')", "timestamp", None),
    ("+'1'", "double", "1.0"),
    ("+1.50", "decimal(3,2)", "1.50"),
    # intervals
    ("INTERVAL -1 DAY 1 HOUR -1 MINUTE", "interval day to minute", "INTERVAL '-0 23:01' DAY TO MINUTE"),
    ("- INTERVAL -1 DAY 1 HOUR", "interval day to hour", "INTERVAL '0 23' DAY TO HOUR"),
    ("INTERVAL 3 DAY - INTERVAL 2 HOUR", "interval day to hour", "INTERVAL '2 22' DAY TO HOUR"),
    ("INTERVAL -'178956970-8' YEAR TO MONTH", "interval year to month", "INTERVAL '-178956970-8' YEAR TO MONTH"),
    ("INTERVAL +'-1-1' YEAR TO MONTH", "interval year to month", "INTERVAL '-1-1' YEAR TO MONTH"),
    ("INTERVAL -'-1-1' YEAR TO MONTH", "interval year to month", "INTERVAL '1-1' YEAR TO MONTH"),
    ("CAST(80.654321BD AS INTERVAL HOUR TO MINUTE) > INTERVAL '80' MINUTE", "boolean", "true"),
    ("CAST(CAST(1.5BD AS INTERVAL YEAR) AS INTERVAL YEAR TO MONTH)", "interval year to month", "INTERVAL '1-6' YEAR TO MONTH"),
    ("make_dt_interval(NULL, 0, 0, 1e300)", "interval day to second", None),
    # buckets
    ("time_bucket(INTERVAL '15' MINUTE, TIMESTAMP'2024-01-01 11:27:00')", "timestamp", "2024-01-01 11:15:00"),
    ("time_bucket(INTERVAL '1' DAY, TIMESTAMP'1969-12-31 23:30:00')", "timestamp", "1969-12-31 00:00:00"),
    ("time_bucket(INTERVAL '1' HOUR - INTERVAL '15' MINUTE, TIMESTAMP'2024-06-20 09:47:00')", "timestamp", "2024-06-20 09:45:00"),
    ("time_bucket(INTERVAL '1' HOUR, TIMESTAMP'2024-01-01 11:27:00', TIMESTAMP'2025-01-01 00:30:00')", "timestamp", "2024-01-01 10:30:00"),
    ("time_bucket(INTERVAL '1-3' YEAR TO MONTH, TIMESTAMP'2024-06-20 10:00:00')", "timestamp", "2023-10-01 00:00:00"),
    ("time_bucket(INTERVAL '1' MONTH, TIMESTAMP'2024-03-01 12:00:00', TIMESTAMP'1970-01-31 00:00:00')", "timestamp", "2024-02-29 00:00:00"),
    ("time_bucket(INTERVAL '3' MONTH, TIMESTAMP'2024-02-15 10:00:00', TIMESTAMP'2024-08-01 00:00:00')", "timestamp", "2024-02-01 00:00:00"),
    ("time_bucket(NULL, TIMESTAMP'2024-01-01 11:27:00')", "timestamp", None),
    # numbers
    ("to_char(12454.8, '99G999D9S')", "string", "12,454.8+"),
    ("to_char(-1, '99,999PR')", "string", "     <1>"),
    ("to_char(0, 'S9999.9')", "string", "    +.0"),
    ("to_char(1234567, '$9,999')", "string", "$# ###"),
    (f"to_char({D}, 'yyyy-MM')", "string", "2024-02"),
    ("to_number('<12>', '99PR')", "decimal(2,0)", "-12"),
    ("to_number(',234', '9,999')", "decimal(4,0)", "234"),
    ("try_to_number('12454', '99,999')", "decimal(5,0)", None),
    ("format_number(1.015D, 2)", "string", "1.01"),
    ("format_number(-0.0D, 2)", "string", "-0.00"),
    ("format_number(-1234.5D, '#,##0.00;(#,##0.00)')", "string", "(1,234.50)"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "type_", "value"), FACTS)
def test_as_spark(text: str, type_: str, value: str | None) -> None:
    assert parsed(text) == (type_, value)


FOREIGN = [
    ("TIMESTAMPTOSTRING(1709201472123, 'yyyy-MM-dd HH:mm:ss.SSS', 'Europe/Paris')", "2024-02-29 11:11:12.123"),
    ("STRINGTOTIMESTAMP('2024-07-29 10', 'yyyy-MM-dd HH', 'Europe/Paris')", "1722240000000"),
    ("FORMAT_TIMESTAMP(TIMESTAMP'2024-02-29 10:00:00', 'HH', 'Asia/Tokyo')", "19"),
    ("PARSE_TIMESTAMP('2024', 'yyyy')", "2024-01-01 00:00:00"),
    ("DATETOSTRING(19782, 'yyyy-MM-dd')", "2024-02-29"),
    ("STRINGTODATE('2024-02-29', 'yyyy-MM-dd')", "19782"),
    ("CONVERT_TZ('2024-02-29 10:00:00', 'UTC', 'Asia/Tokyo')", "2024-02-29 19:00:00"),
    ("TO_TIMESTAMP_LTZ('2024-02-29 10', 'yyyy-MM-dd HH')", "2024-02-29 10:00:00"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), FOREIGN)
def test_as_ksqldb_and_flink(text: str, value: str) -> None:
    assert parsed(text)[1] == value


FAILURES = [
    ("CAST('now' AS TIMESTAMP)", "CAST_INVALID_INPUT"),
    ("CAST('2023-02-29' AS DATE)", "CAST_INVALID_INPUT"),
    ("CAST('1-2' AS INTERVAL YEAR)", "INVALID_INTERVAL_FORMAT"),
    ("make_date(2023, 2, 29)", "'2023' is not a leap year"),
    ("make_timestamp(2024, 2, 29, 24, 11, 1)", "HourOfDay"),
    (f"next_day({D}, 'foo')", "ILLEGAL_DAY_OF_WEEK"),
    (f"from_utc_timestamp({T}, 'europe/paris')", "INVALID_TIMEZONE"),
    ("to_timestamp('2024-02-30', 'yyyy-MM-dd')", "CANNOT_PARSE_TIMESTAMP"),
    ("to_timestamp('02-29', 'MM-dd')", "CANNOT_PARSE_TIMESTAMP"),
    ("INTERVAL '1' DAY / 0", "INTERVAL_DIVIDED_BY_ZERO"),
    ("to_number('454', '99')", "MISMATCH_INPUT"),
]


@pytest.mark.parametrize(("text", "message"), FAILURES)
def test_raises(text: str, message: str) -> None:
    with pytest.raises(Failed, match=message):
        parsed(text)


REFUSALS = [
    (f"date_format({T}, 'YYYY')", "Y stands for nothing"),
    ("to_date('x', 'yyyy QQQ')", "Q stands for nothing that is read"),
    (f"extract(CENTURY FROM {T})", "there is no field CENTURY"),
    ("extract(HOUR FROM INTERVAL '1' DAY)", "there is no field HOUR"),
    (f"date_add(FORTNIGHT, 1, {T})", "FORTNIGHT is no unit"),
    ("INTERVAL 1 MONTH 1 DAY", "does not take"),
    ("INTERVAL '1 month 1 day'", "years and months, or days and less, not both"),
    ("INTERVAL (1 + 1) DAY", "INTERVAL takes a constant"),
    ("INTERVAL '1 day -'", "'1 day -' is no interval"),
    (f"dateadd('DAY', 1, {D})", "a unit is a word, not a text"),
    (f"date_add({D}, 1L)", "days are an INT, not BIGINT"),
    (f"+{D}", "POSITIVE does not take DATE"),
    ("INTERVAL '1 day 1'", "'1 day 1' is no interval"),
    (f"time_bucket(INTERVAL '0' HOUR, {T})", "a bucket is longer than 0"),
    (f"time_bucket(INTERVAL '5' HOUR - INTERVAL '6' HOUR, {T})", "a bucket is longer than 0"),
    (f"time_bucket(make_dt_interval(x), {T})", "takes a constant"),
    (f"time_bucket(INTERVAL '1' DAY, {D})", "takes a TIMESTAMP, not a DATE"),
    ("TIME '10:11:12'", "there is no type TIME: there is no time of day without a date"),
    ("CAST('10:11:12' AS TIME(3))", "there is no time of day without a date"),
    ("CAST('1 day' AS INTERVAL)", "an interval is of months or of a fixed length"),
    ("from_json('{}', 'a TIME')", "is no schema: there is no time of day without a date"),
    ("st_srid(x)", "st_srid is not supported: there are no columns of type GEOMETRY"),
    (f"{D} + 1.5", "does not take"),
    ("to_char(1, '9$')", "no number format"),
    (f"unix_seconds({D})", "takes a TIMESTAMP"),
]


@pytest.mark.parametrize(("text", "message"), REFUSALS)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(Uncompiled, match=message):
        parsed(text)


@pytest.mark.parametrize("text", ["2024-01-01 00:00:00x", "1:2:3:4", "9:x"])
def test_what_only_begins_as_a_time_is_malformed(text: str) -> None:
    assert parsed(f"TRY_CAST('{text}' AS TIMESTAMP)") == ("timestamp", None)


@pytest.mark.parametrize("text", ["10:11:12", "T10", "9:5", "T10:11:12.5 UTC"])
@pytest.mark.parametrize(
    "call",
    [
        "TRY_CAST('{}' AS TIMESTAMP)",
        "try_to_timestamp('{}')",
        "from_csv('{}', 'a TIMESTAMP')",
        """from_json('{{"a":"{}"}}', 'a TIMESTAMP')""",
    ],
)
def test_a_time_of_no_day_raises(call: str, text: str) -> None:
    """Spark takes today for its day."""
    with pytest.raises(Failed, match="is a time of no day; nothing here reads a clock"):
        parsed(call.format(text))


@pytest.mark.parametrize(
    "text",
    [
        *("interval", "interval + 1", "interval - 1", "interval * 2", "1 - interval"),
        *("-interval", "interval > 1", "abs(interval - 5) + 1", "interval IS NULL"),
    ],
)
def test_a_column_called_interval(text: str) -> None:
    columns = (Column("interval", pa.int64()), Column("x", pa.int64()))
    plain = compiled(sqlglot.parse_one(text.replace("interval", "x"), read=SqlwinSpark), columns)
    made = compiled(sqlglot.parse_one(text, read=SqlwinSpark), columns)
    assert made.sql == plain.sql.replace('"x"', '"interval"')


def test_rows_of_many_kinds() -> None:
    """What is read at once, one by one, and not at all; NULLs stay."""
    texts = ["2024-02-29", None, "2024-2-9", "+10000-01-01"]
    rows = pa.table({"s": pa.array(texts, STRING)})
    tree = sqlglot.parse_one("CAST(s AS DATE)", read=SqlwinSpark)
    shown = cast(compiled(tree, (Column("s", STRING),)), STRING)
    made = run(rows, f"SELECT {shown.sql} AS x FROM rows")["x"].to_pylist()
    assert made == ["2024-02-29", None, "2024-02-09", "+10000-01-01"]
