"""The pages in a browser: what is drawn, hovered, moved and asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from sqlwin.cli import main
from sqlwin.embedded.run import run
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.connectors.progress import BatchRows
from sqlwin.sql import script
from sqlwin.timeline.live import Live, served
from tests.support.browser import chromium, opened

pytestmark = pytest.mark.long
REPO = Path(__file__).parents[2]
BATCHED = REPO / "tests" / "golden" / "late" / "batched.golden"
FLIGHTS = REPO / "queries" / "delay_trend.sql"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def counted(page: Page, table: str) -> int:
    """Marks of a table of the chart that are shown."""
    shown: int = page.evaluate(
        "name => view.data(name).filter(m => m.batch <= view.signal('until')).length", table
    )
    return shown


def domain(page: Page, axis: str) -> list[float]:
    found: list[float] = page.evaluate("axis => view.scale(axis).domain().map(Number)", axis)
    return found


def place(page: Page, x: str, y: float) -> tuple[float, float]:
    """Where on the page an instant and a batch are."""
    found = page.evaluate(
        """([x, y]) => {
          const box = document.querySelector('#chart svg, #chart canvas').getBoundingClientRect();
          const [left, top] = view.origin(), pad = view.padding();
          return [box.x + left + pad.left + view.scale('x')(Date.parse(x)),
                  box.y + top + pad.top + view.scale('y')(y)];
        }""",
        [x, y],
    )
    return found[0], found[1]


def slide(page: Page, batch: int) -> None:
    page.locator("#until").evaluate(
        "(s, to) => { s.value = to; s.dispatchEvent(new Event('input')); }", batch
    )
    page.wait_for_function("to => view.signal('until') === to", arg=batch)
    page.evaluate("view.runAsync().then(() => null)")


def test_a_golden_is_drawn_hovered_replayed_and_zoomed(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "out.html"
    assert main(["timeline", str(BATCHED), "-o", str(file)]) == 0
    with opened(browser, file.as_uri()) as found:
        page = found.page
        tables = ("rows", "emissions", "windows")
        assert [counted(page, name) for name in tables] == [4, 2, 2]
        assert page.locator("#chart svg").count() == 1

        page.mouse.move(*place(page, "2024-01-01T09:00:30Z", 7.735))
        page.wait_for_selector("#vg-tooltip-element.visible")
        tip = page.locator("#vg-tooltip-element").inner_text().split()
        assert {"late", "+U", "13"} <= set(tip)

        before = page.locator("#chart svg").inner_html()
        slide(page, 2)
        assert counted(page, "rows") == 2
        assert counted(page, "emissions") == 1
        assert page.locator("#shown").inner_text() == "2 clock 09:00:05"
        assert page.locator("#chart svg").inner_html() != before

        wide = domain(page, "x")
        page.mouse.move(*place(page, "2024-01-01T09:00:40Z", 4.5))
        page.mouse.wheel(0, -400)
        page.wait_for_function(
            "wide => { const d = view.scale('x').domain(); return d[1] - d[0] < wide }",
            arg=wide[1] - wide[0],
        )
        page.locator("#whole").click()
        page.wait_for_function("low => Number(view.scale('x').domain()[0]) === low", arg=wide[0])

        page.locator("#play").click()
        page.wait_for_function("view.signal('until') === 8")
        assert found.complaints == []
        assert found.requests == [file.as_uri()]


def test_a_month_of_flights_is_usable(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "flights.html"
    assert main(["timeline", str(FLIGHTS), "-o", str(file)]) == 0
    with opened(browser, file.as_uri()) as found:
        assert "of 27,004 rows not all are drawn" in found.page.locator("#notes").inner_text()
        assert 2_000 < counted(found.page, "rows") < 4_000
        slide(found.page, 60)
        assert counted(found.page, "rows") < 2_000
        assert found.complaints == []
        assert found.requests == [file.as_uri()]


def test_the_live_page_follows_the_run(browser: Browser) -> None:
    asked = script((REPO / "queries" / "departures_per_hour.sql").read_text(encoding="utf-8"))
    live, seen = Live(asked, "departures", bounded=False), list[Any]()
    with served(live, 0) as address, opened(browser, address) as found:
        page = found.page

        def rows(batch: BatchRows) -> None:
            live.rows(batch)
            if batch.number in (1, 3):
                page.wait_for_function("n => view.data('bands').length === n", arg=batch.number)
                seen.append((counted(page, "emissions"), page.locator("#metrics").inner_text()))

        options = RunOptions(
            REPO / "queries", on_rows=rows, on_metrics=live.metrics, stop=lambda: len(seen) > 1
        )
        run(asked, options)
        (first, metrics), (later, _) = seen
        assert 0 < first < later
        wanted = ("rows/s", "watermark of flights", "lag of flights", "late", "rows of state")
        assert all(name in metrics for name in wanted)
        assert all(request.startswith(address) for request in found.requests)
        assert found.complaints == []
