"""The source of Nexmark's streams: the same rows however they are cut, and as they are known."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sqlwin.embedded import run as embedded
from sqlwin.errors import QueryError
from sqlwin.instants import SECOND, parse_instant
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.properties.facts import streams_of
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.progress import Batch
from sqlwin.runtime.connectors.sources import source_of
from sqlwin.runtime.files.pieces import Piece
from sqlwin.runtime.nexmark.sequence import TABLES, Sequence
from sqlwin.runtime.nexmark.source import Nexmark, declared
from sqlwin.runtime.nexmark.tables import COLUMNS
from sqlwin.schema import SEQ
from sqlwin.sql import script

BASE = parse_instant("2015-07-15T00:00:00Z")
SOME = Sequence(seed=7, rate=100, events=5_000, disorder=3 * SECOND, base=BASE)


@cache
def rows(table: str, sequence: Sequence = SOME, step: int = 1_000) -> pl.DataFrame:
    source = Nexmark(table, sequence, step)
    return pl.concat(source.read(split, COLUMNS[table]) for split in source.splits)


PEOPLE = [
    (1000, "John Bartels", "Seattle", "OR"),
    (1001, "Kate Smith", "Cheyenne", "WA"),
]
BIDS = [
    (
        1000,
        1001,
        104660,
        "channel-8588",
        "https://www.nexmark.com/usfx/dquh/ygej/item.htm?query=1&channel_id=8588",
    ),
    (1009, 1001, 305, "Google", "https://www.nexmark.com/oybug/qxyyg/yrs/item.htm?query=1"),
    (1000, 1001, 79071880, "Google", "https://www.nexmark.com/oybug/qxyyg/yrs/item.htm?query=1"),
]


# --- the same rows ----------------------------------------------------------------------


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("step", [7, 37, 301, 4_999, 10_000])
def test_rows_do_not_depend_on_how_they_are_cut(table: str, step: int) -> None:
    sequence = Sequence(seed=7, rate=100, events=400, disorder=SECOND, base=BASE)
    assert rows(table, sequence, step).equals(rows(table, sequence, 400))


@pytest.mark.parametrize("table", TABLES)
def test_a_column_does_not_depend_on_the_others(table: str) -> None:
    whole = rows(table)
    for column in COLUMNS[table]:
        alone = Nexmark(table, SOME, 5_000).read("0-5000", [column])
        assert alone.equals(whole.select(alone.columns))


@pytest.mark.parametrize("table", TABLES)
def test_another_seed_gives_other_rows_at_the_same_times(table: str) -> None:
    other = rows(table, Sequence(8, 100, 5_000, 3 * SECOND, BASE))
    assert other["dateTime"].sort().equals(rows(table)["dateTime"].sort())
    assert (other["extra"] == rows(table)["extra"]).sum() == 0


def test_rows_stay_as_they_are() -> None:
    """A checkpoint goes on reading where it was, so they may never change."""
    plain = Sequence(seed=1, rate=10, events=100, disorder=0, base=0)
    assert rows("person", plain).select("id", "name", "city", "state").rows() == PEOPLE
    bids = rows("bid", plain).head(3).select("auction", "bidder", "price", "channel", "url")
    assert bids.rows() == BIDS


# --- the sequence -----------------------------------------------------------------------


def test_of_fifty_events_one_is_a_person_three_are_auctions() -> None:
    assert [len(rows(table)) for table in TABLES] == [100, 300, 4_600]


def test_every_event_arrives_once() -> None:
    found = np.concatenate([rows(table)[SEQ].to_numpy() for table in TABLES])
    assert sorted(found.tolist()) == list(range(5_000))
    assert rows("bid")[SEQ].is_sorted()


@pytest.mark.parametrize("disorder", [0, 1, 10_000, SECOND, 7 * SECOND, 1_000 * SECOND])
@pytest.mark.parametrize("rate", [3, 100, 1_000_003])
def test_events_are_no_later_than_was_said(disorder: int, rate: int) -> None:
    sequence = Sequence(3, rate, 2_017, disorder, BASE)
    numbers = sequence.numbers(np.arange(2_017))
    assert sorted(numbers.tolist()) == list(range(2_017))
    instants = sequence.instants(numbers)
    behind = np.maximum.accumulate(instants) - instants
    assert behind.max() <= disorder
    if disorder * rate > 10 * SECOND:
        assert behind.max() > min(disorder, 2_017 * SECOND // rate) / 2
    else:
        assert disorder * rate >= SECOND or behind.max() == 0


def test_splits_of_the_three_streams_are_of_the_same_time() -> None:
    for lo in range(0, 5_000, 1_000):
        frames = [Nexmark(t, SOME, 1_000).read(f"{lo}-{lo + 1_000}", ["dateTime"]) for t in TABLES]
        times = pl.concat(frame["dateTime"] for frame in frames).dt.timestamp("us")
        assert times.min() >= BASE + (lo - 300) * SECOND // 100
        assert times.max() <= BASE + (lo + 1_300) * SECOND // 100


def test_arrivals_are_in_order() -> None:
    arrived = rows("bid")["arrived"]
    assert arrived.is_sorted()
    assert arrived.dt.timestamp("us")[-1] - BASE == 4_999 * SECOND // 100 // 1


# --- the values -------------------------------------------------------------------------

LONG = Sequence(seed=1, rate=10_000, events=100_000, disorder=0, base=BASE)


def test_people_and_auctions_are_numbered_as_they_come() -> None:
    for table, count in (("person", 2_000), ("auction", 6_000)):
        assert rows(table, LONG)["id"].to_list() == list(range(1_000, 1_000 + count))


def test_bids_are_for_the_hot_auction_half_the_time_and_for_open_ones_else() -> None:
    bids = rows("bid", LONG)
    last = 1_000 + bids[SEQ].to_numpy() // 50 * 3 + 2
    hot = 1_000 + (last - 1_000) // 100 * 100
    auction = bids["auction"].to_numpy()
    assert abs((auction == hot).mean() - 0.5) < 0.02
    assert (auction >= np.maximum(last - 100, 1_000)).all()
    assert (auction <= last + 10).all()
    assert len(np.unique(auction)) > 5_900


def test_three_of_four_bids_are_the_hot_bidders() -> None:
    bids = rows("bid", LONG)
    people = bids[SEQ].to_numpy() // 50
    hot = 1_001 + people // 100 * 100
    assert abs((bids["bidder"].to_numpy() == hot).mean() - 0.75) < 0.02
    assert (bids["bidder"].to_numpy() <= 1_000 + people + 10).all()


def test_three_of_four_auctions_are_the_hot_sellers() -> None:
    auctions = rows("auction", LONG)
    hot = 1_000 + auctions[SEQ].to_numpy() // 50 // 100 * 100
    assert abs((auctions["seller"].to_numpy() == hot).mean() - 0.75) < 0.03


def test_prices_are_log_uniform() -> None:
    prices = np.log10(rows("bid", LONG)["price"].to_numpy() / 100)
    assert prices.min() >= 0 and prices.max() <= 6
    shares = np.histogram(prices, bins=6, range=(0, 6))[0] / len(prices)
    assert np.abs(shares - 1 / 6).max() < 0.01


def test_auctions_are_open_for_as_long_as_a_hundred_others_need_to_begin() -> None:
    auctions = rows("auction", LONG)
    open_ = (auctions["expires"] - auctions["dateTime"]).dt.total_microseconds()
    assert open_.min() >= 1_000
    mean = 100 * 50 / 3 * SECOND / 10_000
    assert open_.max() <= 1_000 + 2 * mean
    assert abs(open_.mean() / mean - 1) < 0.05
    assert (auctions["reserve"] > auctions["initialBid"]).all()
    assert sorted(auctions["category"].unique()) == [10, 11, 12, 13, 14]


def test_a_channel_has_one_address_which_has_its_number_nine_times_of_ten() -> None:
    bids = rows("bid", LONG)
    assert (bids.group_by("channel").agg(pl.col("url").n_unique())["url"] == 1).all()
    big = bids["channel"].is_in(["Google", "Facebook", "Baidu", "Apple"])
    assert abs(big.mean() - 0.5) < 0.01
    small = bids.filter(~big)
    channels = small["url"].str.extract(r"&channel_id=(\d+)$")
    assert abs(channels.is_not_null().mean() - 0.9) < 0.02
    numbers = small["channel"].str.strip_prefix("channel-")
    assert (channels == numbers).drop_nulls().all()
    folders = r"^https://www\.nexmark\.com/[a-z_]{3,5}/[a-z_]{3,5}/[a-z_]{3,5}/item\.htm\?query=1"
    assert bids["url"].str.contains(folders).all()


def test_texts_are_of_the_lengths_that_are_known() -> None:
    people, auctions = rows("person", LONG), rows("auction", LONG)
    assert people["emailAddress"].str.contains(r"^[a-z]{3,7}@[a-z]{3,5}\.com$").all()
    assert people["creditCard"].str.contains(r"^\d{4} \d{4} \d{4} \d{4}$").all()
    assert people["name"].n_unique() == 99
    for frame, mean in ((people, 136), (auctions, 389), (rows("bid", LONG), 68)):
        assert abs(frame["extra"].str.len_bytes().mean() / mean - 1) < 0.02
    for column in ("itemName", "description"):
        assert (auctions[column] == auctions[column].str.strip_chars()).all()
        assert auctions[column].str.contains(" ").any()


# --- as a source ------------------------------------------------------------------------


def stream(options: str = "", columns: str = "price BIGINT, dateTime TIMESTAMP", name: str = "bid"):  # type: ignore[no-untyped-def]
    text = f"""CREATE STREAM {name} ({columns}, WATERMARK FOR dateTime AS dateTime)
        WITH (connector = 'nexmark'{options}); SELECT * FROM {name}"""
    (found,) = (one for query in script(text).queries for one in streams_of(query.plan))
    assert isinstance(found, Stream)
    return found


def test_defaults_and_the_table_of_the_streams_own_name() -> None:
    assert declared(stream()) == Nexmark("bid", Sequence(0, 1_000, 100_000, 0, BASE), 10_000)
    assert declared(stream(", table = 'bid'", name="offers")).table == "bid"


def test_a_split_has_the_declared_columns_and_positions() -> None:
    source = source_of(stream(", events = 120, 'step.events' = 50"))
    assert source.splits(Path()) == ["0-50", "50-100", "100-120"]
    came = source.read(Piece("50-100", 0, 5000, 5000), 1)
    assert came.rows.columns == ["price", "dateTime", "__part", "__seq"]
    assert came.rows["__seq"].to_list() == list(range(54, 100))
    assert came.errors.is_empty()


@pytest.mark.parametrize(
    ("options", "message", "legal"),
    [
        (", tabel = 'bid'", "stream bid has an unknown option 'tabel'", "table"),
        (
            ", table = 'bids'",
            "stream bid has an option 'table' that cannot be 'bids'",
            "auction, bid",
        ),
        (", rate = 0", "stream bid has an option 'rate' that cannot be '0'", "1 or more"),
        (", rate = 'fast'", "stream bid has an option 'rate' that cannot be 'fast'", "1 or more"),
        (", events = 0", "stream bid has an option 'events' that cannot be '0'", "events = 1000"),
        (", events = 9999999999999", "option 'events' that cannot be '9999999999999'", "1 to 1,"),
        (", seed = '-1'", "stream bid has an option 'seed' that cannot be '-1'", "0 to 1,"),
        (", seed = 9999999999999", "'seed' that cannot be '9999999999999'", "1,000,000,000,000"),
        (", 'out-of-orderness' = '4'", "'out-of-orderness' that cannot be '4'", "'4 seconds'"),
        (", 'out-of-orderness' = '-4 s'", "of-orderness' that cannot be '-4 s'", "'4 seconds'"),
        (", base.time = 'noon'", "an option 'base.time' that cannot be 'noon'", "'2015-07-15T00"),
        (", 'step.events' = 0", "an option 'step.events' that cannot be '0'", "1 or more"),
        (
            ", rate = 1000000, events = 99999999999, 'out-of-orderness' = '1 day'",
            "the out-of-orderness of bid shuffles 86,400,000,001 events",
            "fewer than 2,147,483,648",
        ),
    ],
)
def test_an_option_that_cannot_be_is_refused(options: str, message: str, legal: str) -> None:
    with pytest.raises(QueryError) as refusal:
        source_of(stream(options))
    assert message in refusal.value.message
    assert legal in refusal.value.legal


@pytest.mark.parametrize(
    ("columns", "message", "legal"),
    [
        ("cost BIGINT, dateTime TIMESTAMP", "nexmark's bid has no column cost", "auction, bidder"),
        ("price DOUBLE, dateTime TIMESTAMP", "price of stream bid is DOUBLE", "price BIGINT"),
    ],
)
def test_a_column_that_nexmark_does_not_have_is_refused(
    columns: str, message: str, legal: str
) -> None:
    with pytest.raises(QueryError) as refusal:
        source_of(stream(columns=columns))
    assert message in refusal.value.message
    assert legal in refusal.value.legal


COUNTED = """
CREATE STREAM bid (auction BIGINT, price BIGINT, dateTime TIMESTAMP,
  WATERMARK FOR dateTime AS dateTime - INTERVAL '1' SECOND)
WITH (connector = 'nexmark', events = 3000, rate = 100, 'out-of-orderness' = '2 seconds',
  'step.events' = 500);
SELECT window_start, COUNT(*) AS n, SUM(price) AS total
FROM TUMBLE(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '3' SECOND)
GROUP BY window_start, window_end
"""


def test_a_run_that_was_cut_short_goes_on_from_its_event(tmp_path: Path) -> None:
    def emissions(checkpoint: Path, stop: int | None = None) -> pl.DataFrame:
        shown: list[pl.DataFrame] = []

        def on_batch(batch: Batch) -> None:
            if batch.number == stop:
                raise InterruptedError

        options = RunOptions(tmp_path, checkpoint, drain=True, show=shown.append, on_batch=on_batch)
        try:
            embedded.run(script(COUNTED), options)
        except InterruptedError:
            assert stop is not None
        return pl.concat(shown)

    whole = emissions(tmp_path / "whole")
    first = emissions(tmp_path / "cut", stop=3)
    rest = emissions(tmp_path / "cut")
    assert 0 < len(first) < len(whole)
    assert pl.concat([first, rest]).equals(whole)
