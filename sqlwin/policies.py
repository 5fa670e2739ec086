"""When a window is emitted, how long it is kept, what becomes of expired rows.

The words are SAMZA-552's: full size, late arrival, retention. All times are
microseconds.
"""

from __future__ import annotations

from dataclasses import field, replace
from enum import Enum

from sqlwin.added import ADDED
from sqlwin.instants import SECOND
from sqlwin.lazy_dataclass import dataclass

DEFAULT_LATE_PERIOD = 10 * SECOND


class Late(Enum):
    """What a window does about rows that came after it was emitted full."""

    EVERY = "every"
    ON_UPDATE = "on update"
    NEVER = "never"


class Early(Enum):
    """When a window is emitted before it is full."""

    EVERY = "every"
    ROWS = "rows"
    ON_UPDATE = "on update"


class Expired(Enum):
    """What becomes of a row beyond retention.

    STREAM: to the error stream. COUNT: counted only. EMIT: KIP-94's rule, a session
    of its own that is emitted and not stored.
    """

    STREAM = "stream"
    COUNT = "count"
    EMIT = "emit"


class TtlTime(Enum):
    """What time counts towards a TTL."""

    PROCESSING = "processing"
    EVENT = "event"


class Update(Enum):
    """What renews a TTL: a row that is taken in and kept, or reading as well."""

    WRITE = "create-and-write"
    READ = "read-and-write"


class Visibility(Enum):
    """Whether what has expired may be read while nothing has cleaned it up."""

    NEVER = "never-return-expired"
    UNTIL_CLEANED = "return-expired-if-not-cleaned-up"


@dataclass(frozen=True)
class Cleanup:
    """What removes expired state; any of them together. incremental: how many entries are
    looked at for each access, 0: none; each_record: and as many for each row.
    """

    full_snapshot: bool = False
    incremental: int = 0
    each_record: bool = False
    compaction: bool = False
    timers: bool = False


@dataclass(frozen=True)
class Ttl:
    """Flink's time to live of state. length: microseconds, at least 1."""

    length: int
    time: TtlTime = TtlTime.PROCESSING
    update: Update = Update.WRITE
    visibility: Visibility = Visibility.NEVER
    cleanup: Cleanup = Cleanup(compaction=True)

    def __post_init__(self) -> None:
        if self.length < 1 or self.cleanup.incremental < 0:
            raise ValueError(f"a TTL lasts at least a microsecond: {self}")


def end_of_period(now: int, period: int) -> int:
    """The next multiple of a period of processing time; `now` where there is no period.

    >>> end_of_period(119, 60), end_of_period(120, 60), end_of_period(7, 0)
    (120, 180, 7)
    """
    return (now // period + 1) * period if period else now


@dataclass(frozen=True)
class Policy:
    """The policies of one window operator. Periods are processing time.

    retain: event time that a full window is kept to be corrected (not its own
    length); None: for ever. retain_rows: or until so many rows of its key are
    newer than all of it; None: no such bound. late, late_period: SAMZA-552's
    default is a batch of 10 s. early: None sends nothing early; early_period goes
    with EVERY, early_rows with ROWS, and with EVERY, where whichever comes first counts;
    early_once: a result is emitted early no second time. timeout: a stream silent for so long
    has its open windows emitted full. errors: the sink named by EXPIRED INTO. ttl: how long state
    that is not used is kept; None: as long as retention says. Of a join it is that of its
    left side, and right_ttl that of its right one. hold: how far the operator's watermark stays
    behind that of its input, so that what is emitted once is final. since: an instant up to
    which windows were retired under another `retain`, which a checkpoint had. ignores: LATE NEVER
    beside a RETAIN of time: what comes late within it is counted. retention: how long past its
    end a window can be queried, where that is longer than it can be corrected. discards: an
    emission of a window holds what came since its last one, and takes nothing back.
    """

    retain: int | None
    late: Late = Late.EVERY
    late_period: int = DEFAULT_LATE_PERIOD
    early: Early | None = None
    early_period: int = 0
    early_rows: int = 0
    timeout: int | None = None
    retain_rows: int | None = None
    expired: Expired = Expired.STREAM
    errors: str | None = None
    ttl: Ttl | None = field(default=None, repr=False)  # may change over a checkpoint
    right_ttl: Ttl | None = field(default=None, repr=False)
    since: int | None = field(default=None, repr=False)  # of a checkpoint, not of the text
    hold: int = 0
    ignores: bool = field(default=False, repr=False)  # follows from the other clauses
    retention: int | None = field(default=None, repr=False)  # changes no result
    early_once: bool = field(default=False, repr=False, metadata=ADDED)
    discards: bool = field(default=False, repr=False, metadata=ADDED)

    def __post_init__(self) -> None:
        kept = (self.retain, self.retention, self.hold)
        lengths = (*kept, self.late_period, self.early_period, self.timeout)
        if any(length is not None and length < 0 for length in lengths):
            raise ValueError(f"negative duration in {self}")
        if self.early is Early.ROWS and self.early_rows < 1:
            raise ValueError(f"EARLY EVERY n ROWS needs at least 1, got {self.early_rows}")
        if self.retain_rows is not None and self.retain_rows < 1:
            raise ValueError(f"RETAIN n ROWS needs at least 1, got {self.retain_rows}")
        if self.discards and (self.retain_rows, self.retention, self.ttl) != (None, None, None):
            raise ValueError(f"what is discarded is not counted, queried or kept in {self}")

    @property
    def ttls(self) -> dict[str, Ttl]:
        """Of a join's sides, those that have one."""
        both = {"left": self.ttl, "right": self.right_ttl}
        return {side: ttl for side, ttl in both.items() if ttl is not None}

    @property
    def forever(self) -> Policy:
        """The same, but no window is out of retention."""
        return replace(self, retain=None, retain_rows=None)
