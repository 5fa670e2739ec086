"""A TTL, as EXPLAIN shows it.

>>> from sqlwin.instants import DAY
>>> described(Ttl(7 * DAY))
'7 days of processing time since written; never read once expired; cleaned by compaction'
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlwin.instants import format_duration
from sqlwin.policies import Cleanup, Ttl, Update, Visibility


def described(ttl: Ttl) -> str:
    renewed = "written" if ttl.update is Update.WRITE else "written or read"
    once = "never read" if ttl.visibility is Visibility.NEVER else "read until cleaned"
    return (
        f"{format_duration(ttl.length)} of {ttl.time.value} time since {renewed};"
        f" {once} once expired; cleaned {', '.join(_cleaned(ttl.cleanup))}"
    )


def _cleaned(cleanup: Cleanup) -> Iterator[str]:
    if cleanup.timers:
        yield "by timers"
    if cleanup.incremental:
        each = " and each row" if cleanup.each_record else ""
        entries = f"{cleanup.incremental} entr{'y' if cleanup.incremental == 1 else 'ies'}"
        yield f"{entries} at each access{each}"
    if cleanup.compaction:
        yield "by compaction"
    if cleanup.full_snapshot:
        yield "when restored"
