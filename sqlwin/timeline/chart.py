"""The chart: Vega-Lite by Altair, layer by layer, over the tables of `marks`.

The tables are named, so that the live page can replace them; `until` is the last batch that is
shown, and `labels` has the names of the bands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlwin.pictures.charting import FONT, charting
from sqlwin.timeline.layers import INK, Layers
from sqlwin.timeline.marks import Marks, labels, marks, most_lanes
from sqlwin.timeline.recording import Recording

if TYPE_CHECKING:
    import altair as alt

Spec = dict[str, Any]
FAINT, GRID = "#7b8794", "#e8ecf0"
WIDTH = 900


def spec(recording: Recording, width: int | str = WIDTH, height: int | None = None) -> Spec:
    """The Vega-Lite specification, with its data. height: of the plot, by default as the bands
    need."""
    alt = charting()
    made = marks(recording)
    bands = max((batch.number for batch in recording.batches), default=1)
    first = min((batch.number for batch in recording.batches), default=1)
    height = height or _height(bands - first + 1, made)
    band = height / (bands - first + 1)
    chart = _layered(alt, recording, made, band).properties(
        width=width, height=height, autosize=alt.AutoSizeParams(type="fit-x", contains="padding")
    )
    found: Spec = _styled(alt, chart).to_dict()
    return {**found, "datasets": made}


def _height(bands: int, made: Marks) -> int:
    wanted = bands * max(34, 20 + 15 * min(most_lanes(made), 8))
    return min(max(wanted, 300), 560)


def _layered(alt: Any, recording: Recording, made: Marks, band: float) -> alt.LayerChart:
    thick = max(3.0, min(13.0, band * 0.45 / max(most_lanes(made), 1) * 0.82))
    axes = Layers(alt, recording.axis == "time", band)
    shown = recording.columns
    many = len(made["rows"]) > 400
    layers = [
        axes.bands(),
        axes.windows(crowded=len(made["windows"]) > 60),
        axes.frames(),
        axes.watermark(several=len({mark["stream"] for mark in made["watermarks"]}) > 1),
        axes.bars(shown, retracted=False),
        axes.bars(shown, retracted=True),
        axes.texts(),
        axes.points(thick, shown, retracted=False),
        axes.points(thick, shown, retracted=True),
        axes.rows("rows", 16 if many else 44),
        axes.rows("expired", 70),
    ]
    until = alt.param(name="until", value=max((b.number for b in recording.batches), default=1))
    zoom = alt.selection_interval(name="zoom", bind="scales")
    layers[1] = layers[1].add_params(zoom)  # the first with both axes
    named = alt.param(name="labels", value=labels(recording))
    return alt.layer(*layers).add_params(until, named)  # type: ignore[no-any-return]


def _styled(alt: Any, chart: Any) -> Any:
    text = {"labelFont": FONT, "titleFont": FONT, "labelColor": INK, "titleColor": FAINT}
    axis = {**text, "gridColor": GRID, "domainColor": "#b8c2cc", "tickColor": "#b8c2cc"}
    return (
        chart.configure(font=FONT, background="white", padding=8)
        .configure_axis(**axis, labelFontSize=11, titleFontSize=11, titleFontWeight=500)
        .configure_legend(**text, labelFontSize=11, titleFontSize=11, symbolStrokeWidth=0)
        .configure_view(stroke="#d5dbe1")
        .configure_title(font=FONT, fontSize=14, anchor="start", color=INK, offset=12)
    )


def png(found: Spec, scale: float = 1.5) -> bytes:
    charting()
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(found, scale=scale))


def svg(found: Spec) -> str:
    charting()
    import vl_convert

    return str(vl_convert.vegalite_to_svg(found))
