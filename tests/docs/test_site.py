"""The docs as a site: built strictly, nothing loaded from elsewhere, every page in its place."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config

from tests.docs.blocks import REPO

ASSETS = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}


class Parts(HTMLParser):
    """assets: what a page loads. links: where it leads; menu: those of its menu. ids: places."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.assets: list[str] = []
        self.links: list[str] = []
        self.menu: set[str] = set()
        self.within = 0
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag in ASSETS and ASSETS[tag] in given:
            self.assets.append(given[ASSETS[tag]])
        if tag == "nav":
            self.within += 1
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
            self.menu |= {given["href"]} if self.within else set()

    def handle_endtag(self, tag: str) -> None:
        self.within -= tag == "nav"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Path, Parts]]:
    folder = tmp_path_factory.mktemp("site")
    patch = pytest.MonkeyPatch()
    patch.setenv("NO_MKDOCS_2_WARNING", "1")
    config = load_config(str(REPO / "mkdocs.yml"), site_dir=str(folder), strict=True)
    warned: list[str] = []
    watch = logging.Handler(logging.WARNING)
    watch.emit = lambda record: warned.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("mkdocs").addHandler(watch)
    config.plugins.on_startup(command="build", dirty=False)
    build(config)
    logging.getLogger("mkdocs").removeHandler(watch)
    assert warned == []
    pages = folder.rglob("*.html")
    yield {page: Parts(page.read_text("utf-8")) for page in pages if page.name != "404.html"}
    patch.undo()


@pytest.mark.long
@pytest.mark.filterwarnings("default")
def test_every_link_leads_to_a_page_and_a_place_in_it(site: dict[Path, Parts]) -> None:
    broken = []
    for page, parts in site.items():
        for link in parts.links:
            path, _, place = link.partition("#")
            if re.match(r"[a-z]+:", link):
                continue
            target = (page.parent / path).resolve() if path else page
            known = site[target].ids if target in site else None
            if not target.exists() or (place and known is not None and place not in known):
                broken.append(f"{page.name}: {link}")
    assert broken == []


@pytest.mark.long
@pytest.mark.filterwarnings("default")
def test_nothing_is_loaded_from_elsewhere(site: dict[Path, Parts]) -> None:
    loaded = {asset for parts in site.values() for asset in parts.assets}
    assert {asset for asset in loaded if re.match(r"([a-z]+:)?//", asset)} == set()
    styles = {path for page in site for path in (page.parent / "assets").rglob("*.css")}
    for style in styles:
        assert not re.search(r"url\(['\"]?https?:|@import", style.read_text("utf-8")), style.name


@pytest.mark.long
@pytest.mark.filterwarnings("default")
def test_every_page_of_the_docs_is_in_the_menu(site: dict[Path, Parts]) -> None:
    menu = next(parts.menu for page, parts in site.items() if page.name == "joins.html")
    pages = {path.relative_to(REPO / "docs") for path in (REPO / "docs").rglob("*.md")}
    assert {str(page.with_suffix(".html")) for page in pages} - menu == set()


def test_every_page_of_the_docs_has_its_place_in_the_menu() -> None:
    """Once. One without a place is put behind all others, under More."""
    nav = load_config(str(REPO / "mkdocs.yml")).nav
    assert nav is not None
    listed = [page for each in nav for page in ([each] if isinstance(each, str) else _pages(each))]
    pages = {str(path.relative_to(REPO / "docs")) for path in (REPO / "docs").rglob("*.md")}
    assert sorted(listed) == sorted({"index.md", *pages})


def _pages(chapter: dict[str, list[str]]) -> Iterator[str]:
    for pages in chapter.values():
        yield from pages
