"""A golden file: a query, its input step by step, and what is to come of each step.

title: …            what is shown, as a sentence
why: …              what breaks without it
clock: 2024-01-01T09:00:00Z    where processing time begins
query: by_product   of a script with several: the name of its sink or view, or its number from 1
functions: own.py   a module beside the file with Python aggregates that the query calls
param minutes: 10   what `:minutes` stands for in the query
gap spark: …        a host that does not do this yet, and the reason
within n: 0.03      column n may be off by so much of itself, as a sketch is
show: row_key       columns of emissions that are left out otherwise
only: table         what is emitted may differ from host to host; its last revisions may not
--- query           the script
--- query own.sql   the script of a file
--- streams         in `tests/pairs`: what its queries read
--- explain         the plan, as EXPLAIN prints it
--- refused         instead of any step: the message of the mistake
--- feed orders     a step: one batch of rows
--- feed orders from rides.csv     a step: the rows of a file, as one batch; .jsonl and .parquet too
--- watermark orders 2024-01-01T09:02:00Z       a step
--- clock 2024-01-01T09:00:10Z                  a step
--- drain           a step: end of input
--- expect          emissions of the step above; nothing below it is silence
--- errors          rows of the error stream of the step above; left out: none
--- table           the last revisions after the step above
--- windows         what a state query finds after the step above, of all keys
--- windows tea     the same of one key
--- fails           the step above ends the query with this message

Files are relative to the golden.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from pathlib import Path

from sqlwin.errors import InputError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.testing.cells import NOTHING, Table, read

SUFFIX = ".golden"
STEPS = ("feed", "watermark", "clock", "drain")
CHECKS = ("expect", "errors", "table", "windows", "fails")
WHOLE = ("query", "explain", "refused", "streams")
FROM = " from "
NEEDED = {
    "feed": "a stream, or a stream and `from` a file",
    "watermark": "a stream and an instant",
    "clock": "an instant",
}
START_OF_CLOCK = "2024-01-01T09:00:00Z"
"""Where processing time stands before the first `clock` step, unless `clock:` says."""


@dataclass(frozen=True)
class Block:
    """kind: the first word of its line; argument: the rest. line: its number, from 1."""

    kind: str
    argument: str
    lines: tuple[str, ...]
    line: int = field(default=0, compare=False)

    @property
    def body(self) -> str:
        return "\n".join(self.lines).strip("\n")


@dataclass(frozen=True)
class Step:
    """kind and argument of the block; rows: of a feed; checks: the blocks below it.

    number: from 1. line: of the block. file: where the rows of a feed are, in place of `rows`.
    """

    kind: str
    argument: str
    rows: Table = NOTHING
    checks: dict[str, Block] = field(default_factory=dict)
    number: int = field(default=0, compare=False)
    line: int = field(default=0, compare=False)
    file: Path | None = None

    @property
    def stream(self) -> str | None:
        """Whose rows or watermark it has."""
        return self.argument.split()[0] if self.kind in ("feed", "watermark") else None

    @property
    def where(self) -> str:
        return f"step {self.number}, line {self.line}: {self.kind} {self.argument}".rstrip()

    def check(self, kind: str) -> Block | None:
        return self.checks.get(kind)


@dataclass(frozen=True)
class Golden:
    """name: the path below the folder of goldens, without its suffix. folder: where it lies."""

    name: str
    head: dict[str, str] = field(hash=False)
    blocks: tuple[Block, ...]
    folder: Path = Path()

    @property
    def query(self) -> str:
        """The text of the script. InputError where its file cannot be read."""
        block = next((block for block in self.blocks if block.kind == "query"), None)
        if block is None:
            raise InputError(f"{self.name}: no query; it stands below a line `--- query`")
        return _text(self.folder / block.argument) if block.argument else block.body

    @property
    def clock(self) -> str:
        return self.head.get("clock", START_OF_CLOCK)

    @property
    def gaps(self) -> dict[str, str]:
        """Host to reason."""
        return self._named("gap ")

    @property
    def params(self) -> dict[str, str]:
        """Name to text, as on a command line."""
        return self._named("param ")

    @property
    def within(self) -> dict[str, float]:
        """Column to the part of itself that it may be off."""
        return {column: float(text) for column, text in self._named("within ").items()}

    def _named(self, word: str) -> dict[str, str]:
        return {
            key.removeprefix(word): text for key, text in self.head.items() if key.startswith(word)
        }

    @property
    def tables_only(self) -> bool:
        """Whether steps are not asked what they emitted."""
        return self.head.get("only") == "table"

    @property
    def shown(self) -> tuple[str, ...]:
        return tuple(self.head.get("show", "").replace(",", " ").split())

    def whole(self, kind: str) -> str | None:
        """The body of a block that is not about a step."""
        return next((block.body for block in self.blocks if block.kind == kind), None)

    def steps(self) -> list[Step]:
        steps: list[Step] = []
        for block in self.blocks:
            if block.kind in STEPS:
                steps.append(self._step(block, len(steps) + 1))
            elif block.kind in CHECKS:
                steps[-1] = replace(steps[-1], checks={**steps[-1].checks, block.kind: block})
        return steps

    def _step(self, block: Block, number: int) -> Step:
        _, between, file = block.argument.partition(FROM)
        rows, named = NOTHING, None
        if block.kind == "feed" and between:
            named = self.folder / file.strip()
        elif block.kind == "feed":
            try:
                rows = read(block.lines)
            except ValueError as error:
                raise InputError(f"{self.name}, line {block.line}: {error}") from None
        return Step(block.kind, block.argument, rows, number=number, line=block.line, file=named)


def parse(name: str, text: str, folder: Path = Path()) -> Golden:
    """InputError for what is no golden: where, and what would be legal."""
    head: dict[str, str] = {}
    blocks: list[Block] = []
    lines = text.removesuffix("\n").split("\n")  # in a value other signs may end lines
    for number, line in enumerate(lines, start=1):
        if line.startswith("--- "):
            kind, _, argument = line[4:].strip().partition(" ")
            _check(kind, argument.strip(), blocks, f"{name}, line {number}")
            blocks.append(Block(kind, argument.strip(), (), number))
        elif blocks:
            blocks[-1] = replace(blocks[-1], lines=(*blocks[-1].lines, line))
        elif line.strip():
            key, colon, value = line.partition(":")
            if not colon:
                raise InputError(f"{name}, line {number}: need `word: text`, got {line!r}")
            head[key.strip()] = value.strip()
    return Golden(name, head, tuple(blocks), folder)


def _check(kind: str, argument: str, before: list[Block], where: str) -> None:
    if kind not in STEPS + CHECKS + WHOLE:
        known = ", ".join(WHOLE + STEPS + CHECKS)
        raise InputError(f"{where}: no block is called {kind}; there are {known}")
    if kind in CHECKS and not any(block.kind in STEPS for block in before):
        raise InputError(f"{where}: {kind} stands below no step; those are {', '.join(STEPS)}")
    words = {"feed": (1, 3), "watermark": (2, 2), "clock": (1, 1)}.get(kind)
    if words is not None and len(argument.split(maxsplit=2)) not in words:
        raise InputError(f"{where}: {kind} needs {NEEDED[kind]}, got {argument!r}")


def render(golden: Golden) -> str:
    head = [f"{key}: {value}" for key, value in golden.head.items()]
    return "\n".join([*head, *(line for block in golden.blocks for line in _lines(block))]) + "\n"


def _lines(block: Block) -> Iterator[str]:
    yield f"--- {block.kind} {block.argument}".rstrip()
    if block.body:
        yield block.body


def load(path: Path, root: Path | None = None) -> Golden:
    """root: the folder that names are relative to; None: its own. InputError if unreadable."""
    named = path.relative_to(path.parent if root is None else root).with_suffix("")
    return parse(named.as_posix(), _text(path), path.parent)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"cannot read {path}: {why}") from None
