"""Pages in the system's Chromium; tests are skipped where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")


@dataclass
class Opened:
    """complaints: errors and warnings of the console. requests: addresses of all of them."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def chromium() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("SKIPPED, AND NOTHING TESTED: no Chromium; tools/with-chromium installs one")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox"], headless=True
        )
        yield launched
        launched.close()


@contextmanager
def opened(browser: Browser, address: str) -> Iterator[Opened]:
    """A page, once its chart is drawn."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(120_000)  # machines differ
    found = Opened(page)
    page.on("request", lambda request: found.requests.append(request.url))
    page.on("pageerror", lambda error: found.complaints.append(str(error)))
    page.on("console", lambda message: _note(found, message.type, message.text))
    page.goto(address)
    page.wait_for_selector("body[data-drawn]")
    yield found
    page.close()


def _note(found: Opened, kind: str, text: str) -> None:
    if kind in ("error", "warning"):
        found.complaints.append(text)
