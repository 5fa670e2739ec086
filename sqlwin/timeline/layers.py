"""The layers of the chart, over axes and colors that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlwin.timeline.marks import KINDS

if TYPE_CHECKING:
    pass

INK = "#1f2933"
COLORS = ("#8a97a6", "#d9480f", "#c2255c", "#343a40", "#e6a700", "#1c7ed6", "#f76707")
BAR = "M-1.1,-0.5H1.1V0.5H-1.1Z"
SHAPES = ("circle", "circle", "cross", "M-1.2,-0.18H1.2V0.18H-1.2Z", BAR, BAR, BAR)
CLOCK = {
    "milliseconds": "%H:%M:%S.%L",
    "seconds": "%H:%M:%S",
    "minutes": "%H:%M",
    "hours": "%H:%M",
    "date": "%b %d",
    "day": "%b %d",
    "week": "%b %d",
}
_SHOWN_OTHERWISE = ("image", "title")
"""Of a tooltip: one would be loaded from where its value says, the other is its head."""


class Layers:
    """The layers, which share axes and colors."""

    def __init__(self, alt: Any, time: bool, band: float) -> None:
        self.alt, self.time, self.band = alt, time, band
        self.color = alt.Color("what:N", scale=self._scale(COLORS), legend=self._legend(), title="")
        self.shape = alt.Shape("what:N", scale=self._scale(SHAPES), legend=self._legend(), title="")

    def _scale(self, range_: tuple[str, ...]) -> Any:
        return self.alt.Scale(domain=list(KINDS), range=list(range_))

    def _legend(self) -> Any:
        return self.alt.Legend(
            orient="top",
            direction="horizontal",
            columns=len(KINDS),
            symbolSize=110,
            title=None,
            symbolOpacity=1,
            labelExpr="indexof(['early', 'full', 'late'], datum.label) < 0 ? datum.label"
            " : 'emitted ' + datum.label",
            offset=24,
        )

    def _base(self, layer: str, until: str = "datum.batch <= until") -> Any:
        return self.alt.Chart(self.alt.NamedData(layer)).transform_filter(until)

    def x(self, field: str = "x") -> Any:
        kind, title = (
            ("T", "event time (UTC)") if self.time else ("Q", "message, in order of arrival")
        )
        scale = {"type": "utc"} if self.time else {"zero": False}
        axis = self.alt.Axis(
            **({"format": CLOCK} if self.time else {}), labelOverlap=True, tickCount=8
        )
        scale_ = self.alt.Scale(**scale, nice=False, padding=12)
        return self.alt.X(f"{field}:{kind}", title=title, axis=axis, scale=scale_)

    def y(self, field: str = "y") -> Any:
        axis = self.alt.Axis(
            labelExpr="datum.value % 1 == 0 ? labels[datum.value] || '' : ''",
            tickMinStep=1,
            tickCount=self.alt.ExprRef("max(2, min(24, floor(height / 22)))"),
            labelBaseline="top",
            labelOffset=3,
            labelLimit=150,
            minExtent=58,  # the live page begins without labels
            titleAnchor="start",
            titleAngle=0,
            titleAlign="left",
            titleY=-12,
            titleX=-4,
            grid=False,
        )
        scale = self.alt.Scale(zero=False, nice=False, reverse=True)
        return self.alt.Y(f"{field}:Q", title="arrival, by batch ↓", axis=axis, scale=scale)

    def bands(self) -> Any:
        """Of the batches, every other one shaded: so the axis has all of them, also where one
        drew nothing."""
        alt, base = self.alt, self.alt.Chart(self.alt.NamedData("bands"))
        shade = alt.condition("datum.y % 2 == 0", alt.value(0.07), alt.value(0.0))
        return base.mark_rect(fill="#52606d").encode(self.y(), alt.Y2("end:Q"), fillOpacity=shade)

    def windows(self, crowded: bool) -> Any:
        opacity = {"fillOpacity": 0.05, "strokeOpacity": 0.12 if crowded else 0.35}
        until = "min(datum.until, until + 1)"
        return (
            self._base("windows")
            .transform_calculate(shown=until)
            .mark_rect(fill="#4c6ef5", stroke="#4c6ef5", **opacity)
            .encode(
                self.x("start"),
                self.alt.X2("end:T" if self.time else "end:Q"),
                self.y(),
                self.alt.Y2("shown:Q"),
                tooltip=self._tips(window="window", state="state", rows="rows in it"),
            )
        )

    def frames(self) -> Any:
        """The frame of an emission that stands at its row."""
        return (
            self._base("emissions")
            .transform_filter("datum.point && datum.start < datum.end")
            .mark_rule(strokeWidth=1.2, opacity=0.35)
            .encode(self.x("start"), self.alt.X2("end"), self.y(), color=self.color)
        )

    def bars(self, columns: tuple[str, ...], retracted: bool) -> Any:
        alt, least = self.alt, round(1.5 / self.band, 4)
        half = f"max(min(0.19 / datum.lanes, {round(7 / self.band, 4)}), {least})"
        return (
            self._base("emissions")
            .transform_filter(f"!datum.point && {_op(retracted)}")
            .transform_calculate(top=f"datum.y - {half}", bottom=f"datum.y + {half}")
            .mark_rect(filled=not retracted, cornerRadius=2.5, opacity=0.9)
            .encode(
                self.x("start"),
                alt.X2("end"),
                self.y("top"),
                alt.Y2("bottom"),
                color=self.color,
                tooltip=self._emitted(columns),
            )
        )

    def texts(self) -> Any:
        alt = self.alt
        return (
            self._base("emissions")
            .transform_filter("!datum.point && datum.label != ''")
            .mark_text(align="left", baseline="middle", dx=5, fontSize=9.5, fontWeight=600)
            .encode(
                self.x("start"),
                self.y(),
                text="label:N",
                color=alt.condition("datum.op == '-D'", alt.value(INK), alt.value("white")),
                tooltip=alt.value(None),
            )
        )

    def points(self, thick: float, columns: tuple[str, ...], retracted: bool) -> Any:
        size = max(22.0, min(90.0, thick * thick * 1.4))
        return (
            self._base("emissions")
            .transform_filter(f"datum.point && {_op(retracted)}")
            .mark_point(shape="diamond", filled=not retracted, size=size, opacity=0.9)
            .encode(
                self.x(),
                self.y(),
                color=self.color,
                tooltip=self._emitted(columns),
            )
        )

    def watermark(self, several: bool) -> Any:
        line = (
            self._base("watermarks")
            .mark_line(interpolate="step-before", strokeWidth=2, point=False)
            .encode(
                self.x(),
                self.y(),
                color=self.color,
                order=self.alt.Order("y:Q"),
                detail="stream:N",
                tooltip=self._tips(stream="watermark of", at="at"),
            )
        )
        dashes = self.alt.StrokeDash("stream:N", legend=self.alt.Legend(title="watermark of"))
        return line.encode(strokeDash=dashes) if several else line

    def rows(self, layer: str, size: int) -> Any:
        tips = {"what": "what", "stream": "stream", "at": "at", "row": "row"}
        if layer == "expired":
            tips |= {"reason": "reason"}
        opacity = self.alt.condition(
            "datum.what == 'row'", self.alt.value(0.75), self.alt.value(1.0)
        )
        return (
            self._base(layer)
            .mark_point(filled=True, size=size)
            .encode(
                self.x(),
                self.y(),
                color=self.color,
                shape=self.shape,
                opacity=opacity,
                tooltip=self._tips(**tips, batch="batch"),
            )
        )

    def _emitted(self, columns: tuple[str, ...]) -> list[Any]:
        about = {"what": "emitted", "op": "op", "revision": "revision", "window": "window"}
        taken = {*about.values(), "batch", *_SHOWN_OTHERWISE}
        values = {f"c{number}": _free(name, taken) for number, name in enumerate(columns)}
        return self._tips(**about, **values, batch="batch")

    def _tips(self, **fields: str) -> list[Any]:
        return [self.alt.Tooltip(f"{name}:N", title=title) for name, title in fields.items()]


def _free(name: str, taken: set[str]) -> str:
    """A title that no other value of the tooltip has: `op` in backquotes, as in SQL."""
    while name in taken:
        name = f"`{name}`"
    taken.add(name)
    return name


def _op(retracted: bool) -> str:
    """Of the marks of a layer; retractions are hollow."""
    return f"datum.op {'==' if retracted else '!='} '-D'"
