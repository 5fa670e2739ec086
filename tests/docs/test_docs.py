"""What the docs show works: queries bind, commands parse and run, goldens hold, links lead on.

Python examples (`>>>`) are doctests and run where they stand. A ```sql block is
bound; with no CREATE STREAM of its own it reads the stream that semantics.md
declares. ```sql refused must be refused. A ```text picture is drawn from the golden above it.
"""

from __future__ import annotations

import re
import shlex
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sqlwin.cli import main
from sqlwin.commands.parser import parser
from sqlwin.errors import QueryError
from sqlwin.sql import script
from sqlwin.testing.checks import differences
from sqlwin.testing.golden import parse
from tests.docs.blocks import PAGES, REPO, SHELL, Block, blocks, each, links, page_blocks
from tests.docs.pictures import draw, pictures
from tests.golden.hosts import HOSTS


def commands(block: Block) -> Iterator[list[str]]:
    for line in block.text.splitlines():
        words = shlex.split(line.strip().removeprefix("$ "), comments=True)
        if words:
            yield words


def shell(program: str) -> list[tuple[Block, list[str]]]:
    """Commands of a program, leading `NAME=value` left out, with their blocks."""
    found = []
    for block in blocks(*SHELL):
        for words in commands(block):
            while re.match(r"\w+=", words[0]):
                words = words[1:]
            if words[0] == program:
                found.append((block, words))
    return found


# --- queries -----------------------------------------------------------------------


def declared() -> str:
    """The CREATE STREAM of semantics.md, which other examples read."""
    first = next(b for b in blocks("sql") if b.page.name == "semantics.md")
    return first.text[: first.text.index(";") + 1] + "\n"


def whole(text: str) -> str:
    return text if "CREATE STREAM" in text else declared() + text


@each(blocks("sql"))
def test_a_query_binds(block: Block) -> None:
    assert script(whole(block.text)).queries


@each(blocks("sql refused"))
def test_a_query_that_should_be_is_refused(block: Block) -> None:
    with pytest.raises(QueryError):
        script(whole(block.text))


@each(blocks("golden"))
def test_a_golden_holds(block: Block) -> None:
    golden = parse(str(block), block.text)
    for host in HOSTS:
        if not host.batch and host.skip is None:
            assert not differences(golden, host.run([golden])[golden.name]), host.name


@each(blocks("text picture"))
def test_a_picture_is_of_the_golden_above_it(block: Block) -> None:
    """`python -m tests.docs.pictures` draws them anew."""
    drawn = {picture: golden for golden, picture in pictures(block.page.read_text("utf-8"))}
    assert block.text == draw(parse(str(block), drawn[block.text]))


def test_every_kind_of_window_has_a_picture() -> None:
    kinds = {page for page in PAGES if page.parent.name == "windows"}
    assert kinds == {block.page for block in blocks("text picture")} & kinds != set()


def test_every_block_says_what_it_is() -> None:
    known = {"sql", "sql refused", "golden", "python", "text", "text picture", *SHELL}
    known |= {"golden new-window", "python new-window"}  # see test_new_window
    known |= {"python recipe", "text output"}  # see test_recipes
    known |= {"python quickstart", "sql quickstart", "text quickstart", "text infer"}
    servers = ("kafka", "kafka spark", "postgres", "spark")
    known |= {f"python recipe {server}" for server in servers}
    every = [block for page in PAGES for block in page_blocks(page)]
    strange = [f"{block}: {block.kind!r}" for block in every if block.kind not in known]
    assert strange == []


@pytest.mark.long
@pytest.mark.spark
def test_the_dataframe_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the README has it, but for where the orders are: the JVM was started elsewhere."""
    from sqlwin.spark.session.local import local_session  # here, so that only this test needs Java

    local_session(2)  # the one that is there already, if there is one; the example's is the same
    example = next(b for b in blocks("python") if "sqlwin.spark.query" in b.text)
    rows = '{"product": "tea", "ts": "2024-01-01T09:00:00Z"}\n{}\n'
    (tmp_path / "orders").mkdir()
    (tmp_path / "orders" / "a.json").write_text(rows + rows.replace("09:00", "09:10"))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(example.text.replace('.json("orders")', f".json({str(tmp_path / 'orders')!r})"), names)
    query = names["running"]
    while query.isActive and query.lastProgress is None:  # ticks come for ever
        time.sleep(0.2)
    assert query.exception() is None
    query.stop()
    assert (tmp_path / "state" / "spark").is_dir()  # wherever the JVM was started
    with sqlite3.connect(tmp_path / "shop.db") as db:
        assert ("tea", 1) in db.execute("SELECT product, n FROM totals").fetchall()


# --- commands ----------------------------------------------------------------------


def test_a_make_target_exists() -> None:
    makefile = (REPO / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    parsed = {
        (str(block), word)
        for block, words in shell("make")
        for word in words[1:]
        if "=" not in word and not word.startswith("-")
    }
    for page in PAGES:
        spoken = re.findall(r"`make ([a-z-]+)", page.read_text(encoding="utf-8"))
        parsed |= {(page.name, target) for target in spoken}
    assert parsed
    assert {(where, target) for where, target in parsed if target not in targets} == set()


# `sqlwin test` and `timeline` write where they run: test_testing, test_pictures have a folder
SQLWIN = [
    pytest.param(words, id=f"{b}-{' '.join(words)}")
    for b, words in shell("sqlwin")
    if words[1] not in ("test", "timeline")
]


@pytest.mark.parametrize("words", SQLWIN)
def test_a_command_parses(words: list[str]) -> None:
    file = getattr(parser().parse_args(words[1:]), "file", None)
    assert file is None or (REPO / file).is_file()


@pytest.mark.parametrize("words", SQLWIN)
def test_a_command_runs(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if "run" in words and "embedded" not in words:
        pytest.skip("runs on Spark; the hosts are compared elsewhere")
    monkeypatch.chdir(REPO)
    assert main(words[1:]) == 0
    assert capsys.readouterr().out


def test_the_docs_show_every_option() -> None:
    """Options of `sqlwin run` that the README does not name, or names and are none."""
    readme = (REPO / "README.md").read_text(encoding="utf-8")
    table = readme[readme.index("## The command") : readme.index("## Queries")]
    commands = parser()._subparsers
    assert commands is not None
    run = next(iter(commands._group_actions)).choices["run"]  # type: ignore[index,union-attr]
    options = {o for a in run._actions for o in a.option_strings if o.startswith("--")}
    assert set(re.findall(r"`(--[a-z-]+)", table)) == options - {"--help"}


# --- links -------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPO)))
def test_a_link_leads_somewhere(page: Path) -> None:
    broken = []
    for path, anchor in links(page):
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(f"{path}#{anchor}")
    assert broken == []


NAMED = re.compile(r"`((?:sqlwin|tests|queries|docs|tools|grammar)/[\w./-]*)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPO)))
def test_a_file_that_is_named_exists(page: Path) -> None:
    named = set(NAMED.findall(page.read_text(encoding="utf-8")))
    missing = {name for name in named if "{" not in name and not (REPO / name).exists()}
    assert missing - MADE_UP == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPO)))
def test_a_module_that_is_named_exists(page: Path) -> None:
    """`source.py` and the like: some module of the package, or a script, is called that."""
    known = {
        path.name for folder in ("sqlwin", "queries", "bench", "tests") for path in modules(folder)
    }
    named = re.findall(r"`(?:[\w.-]+/)*([\w-]+\.py)`", page.read_text(encoding="utf-8"))
    assert set(named) - known == set()


def modules(folder: str) -> Iterator[Path]:
    return (REPO / folder).rglob("*.py")


MADE_UP = {"tests/golden/late/correction.golden"}
"""Named as what a reader could write."""
