"""What is recorded of goldens and of runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlwin.embedded.run import run
from sqlwin.errors import InputError
from sqlwin.instants import parse_instant
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.sql import script
from sqlwin.testing.golden import load, parse
from sqlwin.timeline import files
from sqlwin.timeline.observers import recording_file
from sqlwin.timeline.recording import Arrival, Batch, Emission, Recording, Window
from sqlwin.timeline.replays import of_golden, of_query

REPO = Path(__file__).parents[2]
GOLDENS = REPO / "tests" / "golden"
ORDERS = "CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)"


def at(time: str) -> int:
    return parse_instant(f"2024-01-01T{time}Z")


def golden(name: str) -> Recording:
    return of_golden(load(GOLDENS / f"{name}.golden"))


def recorded(query: str, *steps: str) -> Recording:
    text = "title: t\nwhy: w\n--- query\n" + query + "\n" + "\n".join(steps)
    return of_golden(parse("here", text))


def emissions(recording: Recording) -> list[tuple[int, Emission]]:
    return [(batch.number, each) for batch in recording.batches for each in batch.emissions]


def test_a_late_row_and_the_correction_that_it_makes() -> None:
    found = golden("late/batched")
    late = [(b.number, a.at) for b in found.batches for a in b.arrivals if a.late]
    assert late == [(3, at("09:00:20")), (5, at("09:00:30"))]
    assert [
        (number, e.op, e.emit, e.revision, e.values[-2:]) for number, e in emissions(found)
    ] == [
        (1, "+I", "full", 0, ("1", "1")),
        (7, "+U", "late", 1, ("13", "3")),
    ]
    minute, next_ = (at("09:00:00"), at("09:01:00")), (at("09:01:00"), at("09:02:00"))
    assert found.windows == (Window(*minute, 1, 1, 3), Window(*next_, 1, None, 1))
    assert {mark.at for batch in found.batches for mark in batch.watermarks} == {at("09:01:05")}


def test_without_a_window_no_row_is_late() -> None:
    found = recorded(
        f"{ORDERS};\nSELECT product, COUNT(*) AS n FROM orders GROUP BY product",
        "--- watermark orders 2024-01-01T09:05:00Z",
        "--- feed orders\nproduct | value | ts\ntea | 1 | 2024-01-01T09:00:10Z",
    )
    assert [a.late for batch in found.batches for a in batch.arrivals] == [False]


def test_an_expired_row_is_marked_with_its_reason() -> None:
    found = recorded(
        f"{ORDERS};\nSELECT COUNT(*) AS n FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' "
        "MINUTE) GROUP BY window_start, window_end RETAIN INTERVAL '0' SECOND",
        "--- watermark orders 2024-01-01T09:05:00Z",
        "--- feed orders\nproduct | value | ts\ntea | 1 | 2024-01-01T09:00:10Z",
    )
    ((gone,),) = [batch.expired for batch in found.batches if batch.expired]
    assert (gone.at, gone.reason.split(":")[0]) == (at("09:00:10"), "expired")


def test_a_frame_of_over_ends_at_its_row_though_its_time_is_not_selected() -> None:
    found = recorded(
        f"{ORDERS};\nSELECT COUNT(*) OVER (ORDER BY ts RANGE INTERVAL '30' SECOND PRECEDING) AS n "
        "FROM orders",
        "--- feed orders\nproduct | value | ts\ntea | 1 | 2024-01-01T09:00:10Z",
        "--- drain",
    )
    ((_, emission),) = emissions(found)
    assert (emission.start, emission.end, emission.at) == (
        at("08:59:40"),
        at("09:00:10"),
        at("09:00:10"),
    )
    assert found.framed
    assert found.windows == ()


def test_a_pair_reaches_from_one_row_to_the_other() -> None:
    found = recorded(
        f"{ORDERS};\nCREATE STREAM clicks (product STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts);\n"
        "SELECT o.value FROM orders o JOIN clicks c ON o.product = c.product AND c.ts BETWEEN "
        "o.ts - INTERVAL '1' MINUTE AND o.ts",
        "--- feed orders\nproduct | value | ts\ntea | 1 | 2024-01-01T09:00:40Z",
        "--- feed clicks\nproduct | ts\ntea | 2024-01-01T09:00:10Z",
    )
    ((_, pair),) = emissions(found)
    assert (pair.start, pair.end) == (at("09:00:10"), at("09:00:40"))


def test_event_time_may_be_computed() -> None:
    found = recorded(
        "CREATE STREAM e (at STRING, ts AS CAST(at AS TIMESTAMP), WATERMARK FOR ts AS ts);\n"
        "SELECT COUNT(*) AS n FROM TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' MINUTE) "
        "GROUP BY window_start, window_end",
        "--- feed e\nat\n2024-01-01T09:00:10Z\nnever",
    )
    ((first, second),) = [batch.arrivals for batch in found.batches]
    assert (first.at, second.at) == (at("09:00:10"), None)


def test_windows_in_rows_lie_along_messages() -> None:
    found = recorded(
        f"{ORDERS};\nSELECT window_start, window_end, SUM(value) AS total FROM orders "
        "OVER (ROWS 2 PRECEDING ADVANCE BY 2 ROWS) GROUP BY window_start, window_end",
        "--- feed orders\nproduct | value | ts\ntea | 1 | 2024-01-01T09:00:40Z",
        "--- feed orders\nproduct | value | ts\ntea | 2 | 2024-01-01T09:00:10Z",
    )
    assert found.axis == "message"
    assert [(a.at, a.late) for b in found.batches for a in b.arrivals] == [(1, False), (2, False)]
    ((_, emission),) = emissions(found)
    assert (emission.start, emission.end) == (1, 3)


def test_a_golden_without_steps_has_nothing_to_draw() -> None:
    with pytest.raises(InputError, match="has no steps"):
        recorded(f"{ORDERS};\nSELECT value FROM orders")


def test_a_query_is_run_over_its_own_rows_in_small_batches() -> None:
    text = (REPO / "queries" / "delay_trend.sql").read_text(encoding="utf-8")
    found = of_query(script(text), 0, "t", REPO / "queries", rows=1_000, batches=20)
    assert len(found.batches) == 21
    landed = [(b.number, a.row["dest"]) for b in found.batches for a in b.arrivals if a.late]
    assert landed == [(12, "HNL"), (17, "HNL")]
    corrected = [e for number, e in emissions(found) if number == 18 and e.op == "+U"]
    assert {(e.values[1], e.emit) for e in corrected} == {("UA", "late")}
    assert len(corrected) > 10


def test_a_run_is_recorded_and_read_again(tmp_path: Path) -> None:
    text = (REPO / "queries" / "departures_per_hour.sql").read_text(encoding="utf-8")
    asked, file, seen = script(text), tmp_path / "run.jsonl", list[int]()
    with recording_file(file, asked, "departures", bounded=False) as on_rows:
        stop = lambda: len(seen) > 1  # noqa: E731
        options = RunOptions(
            REPO / "queries", on_rows=on_rows, on_batch=lambda b: seen.append(b.read), stop=stop
        )
        run(asked, options)
    found = files.load(file)
    assert [batch.read for batch in found.batches] == seen
    assert found.title == "departures"
    assert found.query == text
    assert any(row.late for row in found.batches[1].arrivals)
    again = files.read([files.head(found), *map(files.line, found.batches)])
    assert again == found


TWO = """CREATE STREAM s (n INT) WITH (connector = 'files', path = 'rows.csv', format = 'csv');
CREATE SINK `{sink}` WITH (connector = 'none');
INSERT INTO `{sink}` SELECT n FROM s; INSERT INTO `{sink}` SELECT n + 1 AS n FROM s; SELECT n FROM s
"""


@pytest.mark.parametrize(
    ("sink", "names"),
    [
        ("totals", ["run.3.jsonl", "run.totals_1.jsonl", "run.totals_2.jsonl"]),
        ("3", ["run.3_1.jsonl", "run.3_2.jsonl", "run.3_3.jsonl"]),
        ("../a/b:c", ["run.3.jsonl", "run.___a_b_c_1.jsonl", "run.___a_b_c_2.jsonl"]),
        (
            "\u00e9t\u00e9",
            ["run.3.jsonl", "run.\u00e9t\u00e9_1.jsonl", "run.\u00e9t\u00e9_2.jsonl"],
        ),
    ],
)
def test_each_query_has_a_file_of_its_own(sink: str, names: list[str], tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("n\n1\n", encoding="utf-8")
    asked = script(TWO.format(sink=sink))
    with recording_file(tmp_path / "run.jsonl", asked, "t", bounded=False) as on_rows:
        run(asked, RunOptions(tmp_path, on_rows=on_rows))
    assert sorted(path.name for path in tmp_path.rglob("*.jsonl")) == names
    read = [files.load(tmp_path / name) for name in names]
    assert sorted(e.values for each in read for _, e in emissions(each)) == [("1",), ("1",), ("2",)]


def test_a_text_with_any_sign_is_read_again(tmp_path: Path) -> None:
    file, text = tmp_path / "run.jsonl", "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg"
    arrived = Batch(1, text, arrivals=(Arrival("s", 1, row={"name": text}),))
    made = Recording(text, ("name",), (arrived,))
    file.write_text(f"{files.head(made)}\n{files.line(arrived)}\n", encoding="utf-8")
    assert files.load(file) == made


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["{"],
        ['{"sqlwin_recording": 2, "title": "t", "columns": []}'],
        [files.head(Recording("t")), '{"number": "one"}'],
    ],
)
def test_what_is_no_recording_is_refused(lines: list[str]) -> None:
    with pytest.raises(InputError, match="recording"):
        files.read(lines)


def test_a_window_opens_with_its_first_row_and_is_closed_once() -> None:
    batches = (
        Batch(1, "feed", emissions=(Emission("+I", "early", 0, "[]", 0, 60),)),
        Batch(2, "feed", emissions=(Emission("+U", "full", 1, "[]", 0, 60),)),
        Batch(3, "feed", emissions=(Emission("+U", "late", 2, "[]", 0, 60),)),
    )
    assert Recording("t", (), batches).windows == (Window(0, 60, 1, 2),)
