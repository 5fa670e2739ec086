"""The images of the docs, drawn as `sqlwin timeline` draws: `make pictures` draws all anew.

Each page about windows has one, drawn from the golden on the page, so it shows what that says. It
begins with a stamp of what is drawn, by which a test knows whether it is current: how wide a text
is depends on the fonts of the machine, what is drawn does not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

from sqlwin.sql import script
from sqlwin.testing.golden import load, parse
from sqlwin.timeline.chart import Spec, png, spec, svg
from sqlwin.timeline.recording import Recording
from sqlwin.timeline.replays import of_golden, of_query
from sqlwin.timeline.selection import Part
from tests.docs.pictures import pictures

REPO = Path(__file__).parents[2]
FOLDER = REPO / "docs" / "pictures"
MOST_BYTES, SCALES = 150_000, (1.5, 1.25, 1.1, 1.0, 0.9)


def of_flights() -> Recording:
    """sqlwin timeline queries/delay_trend.sql --rows 1000 --batches 20 --only carrier=UA"""
    file = REPO / "queries" / "delay_trend.sql"
    asked = script(file.read_text(encoding="utf-8"))
    found = of_query(asked, 0, file.name, file.parent, rows=1_000, batches=20)
    return Part({"carrier": "UA"}).of(found)


def of_late_rows() -> Recording:
    return of_golden(load(REPO / "tests" / "golden" / "late" / "batched.golden"))


def of_page(name: str) -> Callable[[], Recording]:
    """Of the first golden on a page about windows that has a picture."""

    def made() -> Recording:
        text = (REPO / "docs" / "windows" / f"{name}.md").read_text(encoding="utf-8")
        return of_golden(parse(name, next(pictures(text))[0]))

    return made


IMAGES: Mapping[str, tuple[Callable[[], Recording], int | None]] = {
    "delay_trend": (of_flights, 490),
    "late": (of_late_rows, None),
}
"""What is drawn as PNG, and how many pixels high the plot is."""
WINDOWS = {page.stem: of_page(page.stem) for page in (REPO / "docs" / "windows").glob("*.md")}
"""What is drawn as SVG, by the name of the page."""


def stamp(drawn: Spec) -> str:
    """The same whatever else was drawn before: Altair numbers its views."""
    text = re.sub(r"view_\d+", "view", json.dumps(drawn, sort_keys=True))
    return f"<!-- {sha256(text.encode()).hexdigest()} -->"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, made in WINDOWS.items():
        drawn = spec(made())
        (FOLDER / f"{name}.svg").write_text(f"{stamp(drawn)}\n{svg(drawn)}\n", encoding="utf-8")
    for name, (made, height) in IMAGES.items():
        drawn = spec(made(), height=height)
        images = (png(drawn, scale) for scale in SCALES)
        image = next(each for each in images if len(each) < MOST_BYTES)
        (FOLDER / f"{name}.png").write_bytes(image)
        print(f"docs/pictures/{name}.png: {len(image):,} bytes")  # noqa: T201


if __name__ == "__main__":
    main()
