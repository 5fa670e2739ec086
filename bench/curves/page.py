"""docs/scaling.md: tables and plots of the last run of `bench.curves`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import altair as alt
import polars as pl

from bench.curves.points import CURVES, Point

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "scaling.md"
PICTURES = DOCS / "pictures"
BEGIN, END = "<!-- curves: python -m bench.curves --write-docs -->", "<!-- end of curves -->"
AXES = {
    "length": "The length of a window",
    "keys": "The number of keys",
    "batch": "Rows a batch",
    "late": "The share of late rows",
    "hot": "The share of rows that one key has",
}


def write(found: Mapping[str, Sequence[Point]]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{body(found)}\n{END}{after}", encoding="utf-8")


def body(found: Mapping[str, Sequence[Point]]) -> str:
    parts = []
    for axis, title in AXES.items():
        names = [name for name in CURVES if CURVES[name].axis == axis and name in found]
        if not names:
            continue
        picture = PICTURES / f"{plot(axis)}.svg"
        chart(axis, {name: found[name] for name in names}).save(str(picture))
        parts += [f"### {title}\n", f"![{title}, and what a row costs](pictures/{picture.name})\n"]
        parts += [table(axis, {name: found[name] for name in names}), ""]
    return "\n".join(parts)


def plot(axis: str) -> str:
    """The name of its file."""
    return f"scaling_{axis}"


def table(axis: str, found: Mapping[str, Sequence[Point]]) -> str:
    values = list(dict.fromkeys(each.varied for points in found.values() for each in points))
    lines = [
        f"| ratio to the least | {' | '.join(said(axis, value) for value in values)} | ns, least |",
        f"|---|{'--:|' * (len(values) + 1)}",
    ]
    for name, points in found.items():
        least = min(each.ns for each in points)
        ratios = {each.varied: f"{each.ns / least:.1f}" for each in points}
        told = " | ".join(ratios.get(value, "") for value in values)
        lines.append(f"| {CURVES[name].title} | {told} | {least:,.0f} |")
    return "\n".join(lines)


def said(axis: str, value: int) -> str:
    if axis == "length":
        hours, minutes = divmod(value // 60, 60)
        return f"{hours} h" if hours else f"{minutes} min"
    return f"{value:,}" if axis in ("keys", "batch") else f"{value} %"


def chart(axis: str, found: Mapping[str, Sequence[Point]]) -> alt.Chart:
    rows = [
        {
            "query": CURVES[name].title,
            "at": each.varied,
            "of": said(axis, each.varied),
            "ns": each.ns,
        }
        for name, points in found.items()
        for each in points
    ]
    values = sorted({each.varied for points in found.values() for each in points})
    return (
        alt.Chart(pl.DataFrame(rows))
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "of:O",
                sort=[said(axis, each) for each in values],
                title=AXES[axis],
                axis=alt.Axis(labelAngle=0),
            ),
            y=alt.Y(
                "ns:Q", scale=alt.Scale(type="log"), title="nanoseconds of the processor a row"
            ),
            color=alt.Color(
                "query:N", title=None, legend=alt.Legend(orient="bottom", columns=1, labelLimit=500)
            ),
        )
        .properties(width=520, height=240)
    )
