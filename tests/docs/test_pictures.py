"""The pictures of the docs: each is there, small enough, and shown; their commands run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench.curves.page import AXES, plot
from sqlwin.cli import main
from sqlwin.timeline.chart import spec
from tests.docs.blocks import PAGES, REPO, SHELL, blocks
from tests.docs.charts import FOLDER, IMAGES, MOST_BYTES, WINDOWS, stamp

WHOLE_MONTH = ["queries/delay_trend.sql", "-o", "flights.html"]
LINES = [line for block in blocks(*SHELL) for line in block.text.splitlines()]
DRAWN = [line for line in LINES if line.startswith("sqlwin timeline ")]
COMMANDS = [
    pytest.param(line, marks=[pytest.mark.long] if at or line.split()[2:] == WHOLE_MONTH else [])
    for at, line in enumerate(DRAWN)
]


def test_every_image_is_drawn_and_shown() -> None:
    shown = {
        (page.parent / found).resolve()
        for page in PAGES
        for found in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    drawn = [*WINDOWS, *(plot(axis) for axis in AXES)]
    made = {FOLDER / f"{name}.png" for name in IMAGES} | {FOLDER / f"{name}.svg" for name in drawn}
    assert set(FOLDER.iterdir()) == made <= shown
    assert {path.name for path in made if path.stat().st_size >= MOST_BYTES} == set()


@pytest.mark.parametrize("name", WINDOWS)
def test_the_picture_of_a_kind_of_windows_is_current(name: str) -> None:
    """`make pictures` draws it anew."""
    image = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert image.splitlines()[0] == stamp(spec(WINDOWS[name]()))
    page = (REPO / "docs" / "windows" / f"{name}.md").read_text(encoding="utf-8")
    assert f"](../pictures/{name}.svg)" in page


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_draws(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = command.split()[1:]
    output = words.index("-o") + 1
    words[output] = str(tmp_path / words[output])
    monkeypatch.chdir(REPO)
    assert main(words) == 0
    assert Path(words[output]).stat().st_size > 10_000
