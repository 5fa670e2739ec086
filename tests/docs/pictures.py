"""Pictures of windows, drawn from the golden above them: `python -m tests.docs.pictures` redraws.

The panes of the windows come first. A line a batch shows each row's `value` at its event time, the
next one the watermark after it, and then a bar is each emission, over its window. So a picture
cannot differ from what is emitted. Bars are half-open, `[==3==)`, of `window_start` and
`window_end`, or closed, `[==3==]`, of `frame_start` and `frame_end`; a retraction is `[xx3xx)`.
Windows in ROWS have an axis of message numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from sqlwin.instants import format_instant, parse_instant
from sqlwin.kernels.panes import pane_of
from sqlwin.plan.ir.nodes import Node, WindowAggregate
from sqlwin.plan.properties.facts import window_of
from sqlwin.sql import script
from sqlwin.testing.cells import Table, read
from sqlwin.testing.golden import Golden, Step, parse
from sqlwin.windows import Unit
from sqlwin.windows.group import CalendarWindow, Ending, Whole

SECOND = 1_000_000
HOUR, DAY = 3_600 * SECOND, 86_400 * SECOND
LABEL = 15
SCALES = (1, 2, 3, 5, 6, 10, 15, 20, 30, 60, 120, 300, 600, 1800, 3600)
TICKS = (10, 15, 20, 30, 60, 120, 300, 600, 1800, 3600, 86_400)
WIDTH, TICK_WIDTH = 72, 10
EDGES = {("window_start", "window_end"): ")", ("frame_start", "frame_end"): "]"}
AFTER = re.compile(r"```golden\n(.*?)\n```\s+```text picture\n(.*?)\n?```", re.DOTALL)


@dataclass(frozen=True)
class Bar:
    """An emission; without an interval where its window has no bounds."""

    op: str
    emit: str
    revision: str
    interval: tuple[int, int] | None
    closing: str
    text: str
    rest: str


@dataclass(frozen=True)
class Moment:
    """A step: rows (place, value, late), the watermark where it moved, emissions."""

    name: str
    rows: tuple[tuple[int, str, bool], ...]
    watermark: int | None
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Axis:
    """Places to columns. Places are microseconds, or message numbers where `numbers`."""

    first: int
    last: int
    scale: int
    tick: int
    numbers: bool

    def at(self, place: int) -> int:
        if self.numbers:
            return (place - self.first) * self.scale
        return (place - self.first) // (self.scale * SECOND)

    @property
    def ticks(self) -> list[int]:
        return list(range(self.first, self.last + 1, self.tick))

    def named(self, place: int) -> str:
        if self.numbers:
            return str(place)
        seconds = place // SECOND % 86_400
        if self.tick >= DAY:
            return format_instant(place)[5:10]
        text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        return text if self.tick < 60 * SECOND else text[:5]

    def blank(self) -> list[str]:
        line = [" "] * (self.at(self.last) + 1)
        for tick in self.ticks:
            line[self.at(tick)] = "|"
        return line


def draw(golden: Golden) -> str:
    moments = list(_moments(golden))
    axis = _axis(moments)
    lines = [_scale(axis), *_panes(golden, axis)]
    for moment in moments:
        lines += _moment(moment, axis)
    return "\n".join(line.rstrip() for line in lines)


# --- what is drawn -----------------------------------------------------------------


def _moments(golden: Golden) -> Iterator[Moment]:
    asked = script(golden.query)
    stream, windowed = asked.streams[0], not _whole(asked.queries[0].plan)
    reached: int | None = None
    taken = 0
    for step in golden.steps():
        check = step.check("expect")
        bars = tuple(_bars(read(check.lines))) if check else ()
        numbers = any(bar.closing == "#" for bar in bars)
        rows = tuple(_rows(step, taken if numbers else None, reached if windowed else None))
        taken += len(step.rows.rows)
        before, reached = reached, _reached(step, reached, stream.delay)
        moved = reached if reached != before and not numbers else None
        yield Moment(_named(step), rows, moved, bars)


def _whole(plan: Node) -> bool:
    """Whether it has no window, so that no row is late."""
    window = window_of(plan)
    return isinstance(window, WindowAggregate) and isinstance(window.window, Whole)


def _named(step: Step) -> str:
    return f"clock {step.argument[11:19]}" if step.kind == "clock" else step.kind


def _reached(step: Step, before: int | None, delay: int) -> int | None:
    if step.kind == "watermark":
        return parse_instant(step.argument.split()[-1])
    at = step.rows.columns.index("ts") if "ts" in step.rows.columns else None
    if step.kind != "feed" or at is None:
        return before
    seen = max(parse_instant(row[at]) for row in step.rows.rows) - delay
    return seen if before is None else max(before, seen)


def _rows(step: Step, taken: int | None, reached: int | None) -> Iterator[tuple[int, str, bool]]:
    for number, cells in enumerate(step.rows.rows, 1):
        row = dict(zip(step.rows.columns, cells, strict=True))
        if taken is not None:
            yield taken + number, row["value"], False
        else:
            place = parse_instant(row["ts"])
            yield place, row["value"], reached is not None and place < reached


def _bars(table: Table) -> Iterator[Bar]:
    edges = next((pair for pair in EDGES if pair[0] in table.columns), None)
    hidden = {"op", "emit", "revision", *(edges or ())}
    for cells in table.rows:
        row = dict(zip(table.columns, cells, strict=True))
        values = [(name, text) for name, text in row.items() if name not in hidden]
        interval, closing = None, ""
        if edges:
            numbers = row[edges[0]].isdigit()
            low, high = (int(row[e]) if numbers else parse_instant(row[e]) for e in edges)
            interval, closing = (low, high), "#" if numbers else EDGES[edges]
        rest = ", ".join(f"{name} {text}" for name, text in values)
        yield Bar(row["op"], row["emit"], row["revision"], interval, closing, values[-1][1], rest)


# --- how -----------------------------------------------------------------------------


def _axis(moments: list[Moment]) -> Axis:
    bars = [bar for moment in moments for bar in moment.bars]
    places = [place for moment in moments for place, _, _ in moment.rows]
    places += [m.watermark for m in moments if m.watermark is not None]
    places += [place for bar in bars if bar.interval for place in bar.interval]
    if any(bar.closing == "#" for bar in bars):
        return Axis(min(places), max(places), 6, 1, True)
    span = (max(places) - min(places)) // SECOND
    scale = next(s for s in SCALES if span // s <= WIDTH - TICK_WIDTH)
    tick = next(t for t in TICKS if t // scale >= TICK_WIDTH and t % scale == 0) * SECOND
    first, last = min(places) // tick * tick, -(-max(places) // tick) * tick
    return Axis(first, last, scale, tick, False)


def _scale(axis: Axis) -> str:
    line = [" "] * (LABEL + axis.at(axis.last) + 10)
    for tick in axis.ticks:
        text = axis.named(tick)
        line[LABEL + axis.at(tick) : LABEL + axis.at(tick) + len(text)] = text
    title = "message" if axis.numbers else "event time"
    return title + "".join(line)[len(title) :]


def _panes(golden: Golden, axis: Axis) -> Iterator[str]:
    """Of windows that are made of panes."""
    project = script(golden.query).queries[0].plan
    window = getattr(getattr(project, "input", None), "window", None)
    if isinstance(window, Ending) and window.unit is Unit.RANGE:
        line = axis.blank()
        for start, end in pairwise([*_starts(axis, window), axis.last]):
            low, high = axis.at(start), axis.at(end)
            _write(line, low, f"[{'-' * (high - low - 1)})")
        yield _line("panes", line, "")


def _starts(axis: Axis, window: Ending) -> Iterator[int]:
    """Of panes within the axis, from its first place on."""
    step = HOUR if isinstance(window, CalendarWindow) else window.pane
    starts = (pane_of(place, window) for place in range(axis.first, axis.last, step))
    yield axis.first
    yield from (start for start in dict.fromkeys(starts) if start > axis.first)


def _moment(moment: Moment, axis: Axis) -> Iterator[str]:
    if moment.rows:
        for index, line in enumerate(_placed(moment, axis)):
            late = [value for _, value, is_late in moment.rows if is_late]
            remark = f"late: {', '.join(late)}" if late and not index else ""
            yield _line("" if index else moment.name, line, remark)
    elif moment.watermark is None:
        yield _line(moment.name, axis.blank(), "" if moment.bars else "nothing is emitted")
    if moment.watermark is not None:
        label = "  watermark" if moment.rows else "watermark"
        yield _line(label, _mark(axis, moment.watermark), "")
    for bar in moment.bars:
        yield _line(f"  {bar.op} {bar.emit} {bar.revision}", _bar(axis, bar), bar.rest)


def _placed(moment: Moment, axis: Axis) -> list[list[str]]:
    """Rows on as few lines as keep them apart."""
    lines: list[list[str]] = []
    free: list[int] = []
    for place, value, _ in moment.rows:
        at = axis.at(place) + (axis.scale // 2 if axis.numbers else 0)
        index = next((i for i, end in enumerate(free) if end <= at), len(lines))
        if index == len(lines):
            lines.append(axis.blank())
            free.append(0)
        _write(lines[index], at, value)
        free[index] = at + len(value) + 1
    return lines


def _mark(axis: Axis, place: int) -> list[str]:
    line = axis.blank()
    at = axis.at(place)
    line[:at] = "." * at
    _write(line, at, "W")
    return line


def _bar(axis: Axis, bar: Bar) -> list[str]:
    line = axis.blank()
    if bar.interval is None:
        return line
    low, high = (axis.at(place) for place in bar.interval)
    inside = high - low - 1
    fill = "x" if bar.op == "-D" else "="
    closing = ")" if bar.closing == "#" else bar.closing
    text = f"[{bar.text.center(inside, fill)}{closing}" if inside > 0 else bar.text
    _write(line, low, text)
    return line


def _write(line: list[str], at: int, text: str) -> None:
    line[at : at + len(text)] = text


def _line(label: str, line: list[str], remark: str) -> str:
    return f"{label:<{LABEL}}{''.join(line)}{'   ' + remark if remark else ''}"


# --- pages ---------------------------------------------------------------------------


def pictures(text: str) -> Iterator[tuple[str, str]]:
    """Golden and picture of each pair on a page."""
    for match in AFTER.finditer(text):
        yield match[1], match[2]


def redrawn(text: str) -> str:
    def picture(match: re.Match[str]) -> str:
        head = match[0][: match.start(2) - match.start()]
        return f"{head}{draw(parse('picture', match[1]))}\n```"

    return AFTER.sub(picture, text)


def main() -> None:
    for page in sorted((Path(__file__).parents[2] / "docs").rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if redrawn(text) != text:
            page.write_text(redrawn(text), encoding="utf-8")
            print(page)  # noqa: T201


if __name__ == "__main__":
    main()
