"""One HTML page with everything in it: the chart, its data, and the libraries that draw it.

No request leaves the page. The libraries are those that vl-convert bundles for use offline.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from string import Template

from sqlwin.pictures.charting import charting
from sqlwin.timeline.chart import Spec, spec
from sqlwin.timeline.recording import Recording

MANY = 1_200
"""Marks from which on a canvas is faster than SVG."""


def page(recording: Recording, query: str, live: bool = False, others: Sequence[str] = ()) -> str:
    """The text of the page. query: the text of the script. live: it asks its server for more,
    where `others` are the queries that it has, by number."""
    found = spec(recording, width="container")
    many = sum(map(len, found["datasets"].values())) > MANY or live
    return _template().substitute(
        title=html.escape(recording.title),
        notes="".join(f"<li>{html.escape(note)}</li>" for note in recording.notes),
        query=html.escape(query.strip()),
        spec=_json(found),
        library=_library(),
        links=_links(others),
        live=json.dumps(live),
        renderer=json.dumps("canvas" if many else "svg"),
    )


def _links(titles: Sequence[str]) -> str:
    links = "".join(
        f'<a href="?query={number}">{html.escape(title)}</a>' for number, title in enumerate(titles)
    )
    return f"<nav>{links}</nav>" if len(titles) > 1 else ""


def _json(found: Spec) -> str:
    """Inside a script element, which a tag in a text would end."""
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


@cache
def _template() -> Template:
    return Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))


@cache
def _library() -> str:
    """Vega-Embed, with Vega and Vega-Lite in it, as a name of the page."""
    charting()
    import vl_convert

    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")).replace(
        "</script", "<\\/script"
    )
