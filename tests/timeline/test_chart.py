"""The chart compiles, the page is whole, the commands say what is wrong."""

from __future__ import annotations

import json
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import quote

import polars as pl
import pytest
import vl_convert

from sqlwin.cli import main
from sqlwin.errors import SqlwinError
from sqlwin.runtime.connectors.progress import BatchRows
from sqlwin.schema import CHANGELOG_NAMES, PART, SEQ
from sqlwin.sql import script
from sqlwin.testing.golden import load
from sqlwin.testing.runner import collect
from sqlwin.timeline.chart import spec
from sqlwin.timeline.live import Live, served
from sqlwin.timeline.marks import labels, lanes, marks
from sqlwin.timeline.page import page
from sqlwin.timeline.recording import Arrival, Batch, Emission, Recording
from sqlwin.timeline.replays import of_golden
from sqlwin.timeline.selection import Part, fitted

REPO = Path(__file__).parents[2]
GOLDENS = REPO / "tests" / "golden"
BATCHED = GOLDENS / "late" / "batched.golden"


@pytest.mark.parametrize(
    "name",
    [
        *("late/batched", "early/hop", "sessions/grows_backward"),
        "relations/rstream_of_two_left_joins",
    ],
)
def test_the_chart_compiles(name: str) -> None:
    found = spec(of_golden(load(GOLDENS / f"{name}.golden")))
    assert vl_convert.vegalite_to_svg(found).startswith("<svg")


def test_rows_of_the_text_are_drawn_with_the_first_batch() -> None:
    golden = load(GOLDENS / "bounded" / "values.golden")
    first, *_ = of_golden(golden).batches
    assert first.read > 0
    assert first.arrivals


@pytest.mark.long
def test_charts_of_many_goldens_compile() -> None:
    for golden in collect([GOLDENS])[::75]:
        try:
            recording = of_golden(golden)
        except SqlwinError:  # it is about a refusal, or its functions are in another file
            continue
        vl_convert.vegalite_to_vega(spec(recording))


def test_marks_of_a_batch_lie_in_its_band() -> None:
    made = marks(of_golden(load(BATCHED)))
    assert all(mark["batch"] <= mark["y"] < mark["batch"] + 1 for mark in made["rows"])
    assert all(mark["batch"] + 0.5 < mark["y"] < mark["batch"] + 1 for mark in made["emissions"])
    assert [mark["what"] for mark in made["rows"]] == ["row", "row", "late row", "late row"]
    assert [mark["label"] for mark in made["emissions"]] == [
        "tea, total 1, n 1",
        "tea, total 13, n 3",
    ]
    assert made["watermarks"][-1]["y"] == 9.0


def test_bands_are_named_after_their_steps() -> None:
    named = labels(of_golden(load(BATCHED)))
    assert list(named)[:3] == ["1", "2", "3"]
    assert list(named.values())[:3] == ["1  feed orders", "2  clock 09:00:05", "3  feed orders"]
    assert labels(Recording("t", (), (Batch(7, "batch"),))) == {"7": "batch 7"}


COLUMNS = ("image", "title", "op", "`op`", "window", "batch", "revision", "emitted", "product")


def test_every_column_is_in_the_tooltip_and_none_is_a_picture() -> None:
    emission = Emission("+I", "full", 0, "[]", 0, 60, None, COLUMNS)
    found = spec(Recording("t", COLUMNS, (Batch(1, "feed", emissions=(emission,)),)))
    tips = [layer["encoding"].get("tooltip") for layer in found["layer"]]
    titles = [[tip["title"] for tip in each] for each in tips if isinstance(each, list)]
    assert all(len(set(each)) == len(each) for each in titles)
    assert {"image", "title"}.isdisjoint(title for each in titles for title in each)
    assert any(len(each) == 5 + len(COLUMNS) and "`image`" in each for each in titles)


def test_what_meets_lies_in_lanes() -> None:
    assert lanes([(0, 4), (1, 2), (4, 5), (2, 6)], gap=0) == [0, 1, 0, 1]
    assert max(lanes([(0, 9)] * 40, gap=0)) == 11


def rows(count: int) -> Recording:
    arrivals = tuple(
        Arrival("s", at, late=at % 100 == 0, row={"k": str(at % 2)}) for at in range(count)
    )
    emissions = (Emission("+I", "full", 0, "[]", 0, 60, None, ("1",)),)
    return Recording("t", ("k",), (Batch(1, "feed", arrivals=arrivals, emissions=emissions),))


def test_too_many_rows_are_sampled_and_late_ones_stay() -> None:
    found = fitted(rows(1_000), most=100)
    kept = found.batches[0].arrivals
    assert len(kept) < 120
    assert sum(row.late for row in kept) == 10
    assert found.notes == (
        "of 1,000 rows not all are drawn: every late one, and one in 11 of the others",
    )
    assert fitted(rows(50), most=100) == rows(50)


def test_a_part_is_cut_by_values_and_by_event_time() -> None:
    found = Part({"k": "0"}, since=10, until=20).of(rows(100))
    assert [row.at for row in found.batches[0].arrivals] == [10, 12, 14, 16, 18, 20]
    assert found.batches[0].emissions == ()
    assert found.notes[0] == "only k = 0"
    assert found.notes[1].startswith("event time from 1970-01-01T00:00:00.000010Z to ")


def test_the_page_holds_all_that_it_needs_and_no_text_breaks_out_of_it() -> None:
    found = rows(3)
    bad = "</script><script>alert(1)</script>"
    hurt = Recording(bad, ("k",), (Batch(1, bad, arrivals=found.batches[0].arrivals),))
    whole = page(hurt, f"SELECT '{bad}'")
    text = re.sub("<script>.*?</script>", "", whole, count=1, flags=re.DOTALL)  # the library
    assert text.count("<script>") == 1  # the page's own; the data has a type
    assert "alert(1)</script>" not in text.replace("&lt;/script&gt;", "")
    assert not re.search(r'<(script|link|img)[^>]*(src|href)="(?!data:)', text)
    data = re.search(r'id="spec">(.*?)</script>', text, re.DOTALL)
    assert data is not None
    assert json.loads(data[1])["datasets"]["rows"][0]["batch"] == 1


@pytest.mark.parametrize(
    ("suffix", "begins"), [("html", b"<!DOCTYPE"), ("svg", b"<svg"), ("png", b"\x89PNG")]
)
def test_the_command_writes_a_picture(
    suffix: str, begins: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"out.{suffix}"
    assert main(["timeline", str(BATCHED), "-o", str(file), "--only", "product=tea"]) == 0
    assert file.read_bytes().startswith(begins)
    said = capsys.readouterr()
    assert said.out.strip() == str(file)
    assert said.err == "note: only product = tea\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "out.pdf"], "out.pdf is none of .html, .svg, .png"),
        (["--rows", "7", "-o", "out.svg"], "--rows is of a script that is run; a golden has been"),
        (["--only", "tea", "-o", "out.svg"], "--only 'tea' is not column=value"),
        (["--only", "prodct=tea", "-o", "out.svg"], "--only: no column prodct; there are n, pro"),
        (["--from", "noon", "-o", "out.svg"], "--from 'noon' is not an ISO 8601 instant"),
        (["--from", "2030-01-01T00:00:00Z", "-o", "out.svg"], "has nothing to draw"),
    ],
)
def test_the_command_says_what_is_wrong(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["timeline", str(BATCHED), *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rows", "0"], "--rows: 0 is not a number from 1 to 1,000,000,000"),
        (["--rows", "-1"], "--rows: -1 is not a number from 1 to"),
        (["--rows", "9" * 30], "9 is not a number from 1 to 1,000,000,000"),
        (["--batches", "9" * 5000], "9 is not a number from 1 to 100,000"),
        (["--batches", "few"], "--batches: few is not a number from 1 to 100,000"),
        (["--pace", "-1"], "--pace: -1 is not a number from 0 to 1,000,000,000"),
        (["--pace", "nan"], "--pace: nan is not a number from 0 to 1,000,000,000"),
        (["--pace", "1e300"], "--pace: 1e300 is not a number from 0 to 1,000,000,000"),
    ],
)
def test_a_number_out_of_range_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["timeline", str(REPO / "queries" / "delay_trend.sql"), *arguments])
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("command", [["timeline"], ["explain", "--format", "svg"]])
def test_the_extra_that_is_missing_is_named(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    asked = BATCHED if command[0] == "timeline" else REPO / "queries" / "delay_trend.sql"
    assert main([*command, str(asked)]) == 2
    assert "pip install 'sqlwin[charts]'" in capsys.readouterr().err


def test_a_run_is_recorded_and_served_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rows.csv").write_text("n,ts\n1,2024-01-01T09:00:00Z\n", encoding="utf-8")
    query = tmp_path / "q.sql"
    query.write_text(
        "CREATE STREAM s (n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (connector = 'files', "
        "path = 'rows.csv', format = 'csv'); SELECT n, ts FROM s; SELECT COUNT(*) AS c FROM s "
        "GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)",
        encoding="utf-8",
    )
    record = ["--record", str(tmp_path / "r.jsonl"), "--ui", "0"]
    assert main(["run", str(query), "--engine", "embedded", *record]) == 0
    assert "live page: http://127.0.0.1:" in capsys.readouterr().err
    files = sorted(path.name for path in tmp_path.glob("*.jsonl"))
    assert files == ["r.1.jsonl", "r.2.jsonl"]
    drawn = str(tmp_path / "r.svg")
    assert main(["timeline", str(tmp_path / "r.2.jsonl"), "-o", drawn]) == 0


def test_the_live_page_answers_this_machine_alone() -> None:
    text = (REPO / "queries" / "delay_trend.sql").read_text(encoding="utf-8")
    live = Live(script(text), "delays", bounded=True)
    with served(live, 0) as address:
        assert "of a batch on Spark at most 10,000 rows" in fetched(address)
        assert json.loads(fetched(f"{address}data?after=0")) == {"version": 0}
        for path, host in [
            ("elsewhere", "127.0.0.1:1"),
            ("data?query=1", "127.0.0.1:1"),
            ("", "evil:1"),
        ]:
            request = urllib.request.Request(address + path, headers={"Host": host})
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request)
            refused.value.close()
            assert refused.value.code == 404


def test_the_live_page_takes_the_names_of_this_machine() -> None:
    live = Live(script(ONE), "delays", bounded=True)
    with served(live, 0) as address:
        port = address.rstrip("/").rpartition(":")[2]
        taken = ["localhost", "LOCALHOST", "127.0.0.1", f"localhost:{port}"]
        refused = ["", "evil", "localhost.evil", "[::1", "localhost:evil:1", "127.0.0.1.evil:80"]
        assert [status(address, host) for host in taken] == [200] * 4
        assert [status(address, host) for host in refused] == [404] * 6
        long = "9" * 5_000
        asked = ("?query=" + long, "data?after=" + long, "?query=-1", "data?after=\u0663")
        assert [status(f"{address}{quote(each, safe='?=')}") for each in asked] == [404] * 4


def status(address: str, host: str | None = None) -> int:
    try:
        headers = {} if host is None else {"Host": host}
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        refused.close()
        return refused.code


ONE = """CREATE STREAM s (n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'rows.csv', format = 'csv'); SELECT n, ts FROM s"""


def rows_of(number: int, count: int) -> BatchRows:
    seqs = range(number * count, (number + 1) * count)
    times = pl.Series("ts", seqs, dtype=pl.Int64).cast(pl.Datetime("us", "UTC"))
    taken = pl.DataFrame({"n": seqs, PART: [0] * count, SEQ: seqs, "ts": times})
    results = pl.DataFrame({name: [] for name in CHANGELOG_NAMES.values()})
    errors = pl.DataFrame(
        schema={"stream": pl.String, "ts": pl.Datetime("us"), "reason": pl.String}
    )
    return BatchRows(0, number, [("s", taken)], results, errors, {}, {}, 0, count)


def test_a_live_page_keeps_so_much_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlwin.timeline.live.MOST_MARKS", 50)
    monkeypatch.setattr("sqlwin.timeline.live.KEPT", 3)
    monkeypatch.setattr("sqlwin.timeline.recorder.MOST_POSITIONS", 200)
    live = Live(script(ONE), "rows", bounded=False)
    for number in range(1, 9):
        live.rows(rows_of(number, 100))
    (query,) = live.queries
    assert max(len(batch.arrivals) for batch in query.batches) <= 50
    assert len(query.recorder.positions) <= 200
    assert max(seq for _, _, seq in query.recorder.positions) == 899
    found = live.data(0, 0)
    assert found["labels"] == {"6": "batch 6", "7": "batch 7", "8": "batch 8"}
    assert found["notes"][:2] == (
        "of 8 batches the last 3 are drawn",
        "of a batch at most about 50 rows are kept, and as many emissions",
    )


def fetched(address: str) -> str:
    with urllib.request.urlopen(address) as answer:
        text: str = answer.read().decode()
        return text
