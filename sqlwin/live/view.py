"""The figures of a run as a few lines that fit the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from sqlwin.instants import format_instant
from sqlwin.live.figures import Figures

UNITS = ("bytes", "kB", "MB", "GB", "TB")


def view(
    figures: Figures, waits: str, elapsed: float, now: float, spinner: Spinner
) -> RenderableType:
    """waits: what is waited for, or done. elapsed: seconds of the run."""
    spinner.update(text=Text(f"{waits}  {duration(elapsed)}"))
    lines: list[RenderableType] = [spinner]
    if figures.batches:
        lines.append(_figures(figures, now))
        lines += [Text(f"watermark of {each}", "dim") for each in _marks(figures)]
    share = figures.share
    if share is not None:
        lines.append(_bar(share, figures.left(now)))
    return Group(*lines)


def _figures(figures: Figures, now: float) -> RenderableType:
    parts = [
        f"{figures.read:,} rows read",
        f"{figures.rate(now):,.0f} rows/s",
        f"{figures.emitted:,} results",
        f"late {figures.late:,}",
        f"expired {figures.expired:,}",
    ]
    parts += [f"other errors {figures.others:,}"] * (figures.others > 0)
    parts += [] if figures.windows is None else [f"open windows {figures.windows:,}"]
    if figures.state is not None:
        rows, size = figures.state
        parts.append(f"state {rows:,} records, {bytes_text(size)}")
    return Text(" · ".join(parts))


def _marks(figures: Figures) -> list[str]:
    lags = figures.lags
    return [
        f"{stream} at {format_instant(at)}, {duration(lags[stream])} behind the clock"
        for stream, at in figures.watermarks.items()
    ]


def _bar(share: float, left: float | None) -> RenderableType:
    row = Table.grid(padding=(0, 1))
    row.add_row(
        ProgressBar(total=1.0, completed=share, width=40),
        f"{share:4.0%} of the input",
        "" if left is None else f"{duration(left)} left",
    )
    return row


def duration(seconds: float) -> str:
    """As one reads it.

    >>> duration(4.26), duration(95), duration(7_260), duration(400_000)
    ('4.3 s', '1 min 35 s', '2 h 1 min', '4 d 15 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = int(seconds)
    for unit, name, below, less in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min")):
        if whole >= unit:
            return f"{whole // unit} {name} {whole % unit // below} {less}"
    return f"{whole // 60} min {whole % 60} s"


def bytes_text(size: float) -> str:
    """
    >>> bytes_text(999), bytes_text(12_345), bytes_text(5e9)
    ('999 bytes', '12.3 kB', '5.0 GB')
    """
    for unit in UNITS:
        if size < 1_000 or unit == UNITS[-1]:
            break
        size /= 1_000
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
