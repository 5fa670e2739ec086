"""A golden file: title, why, then blocks, each below a line that begins with `---`.

title: …            what is shown, as a sentence
why: …              what breaks without it
gap spark: …        a host that does not do this yet, and the reason
param minutes: 10   what `:minutes` stands for in the query
within n: 0.03      column n may be off by so much of itself, as a sketch is
show: row_key       columns of emissions that are left out otherwise
only: table         what is emitted may differ from host to host; its last revisions may not
--- query           the script
--- streams         in `tests/pairs`: what its queries read
--- explain         the plan, as EXPLAIN prints it
--- refused         instead of any step: the message of the mistake
--- feed orders     a step: one batch of rows
--- watermark orders 2024-01-01T09:02:00Z       a step
--- clock 2024-01-01T09:00:10Z                  a step
--- drain           a step: end of input
--- expect          emissions of the step above; nothing below it is silence
--- errors          rows of the error stream of the step above; left out: none
--- table           the last revisions after the step above
--- windows         what a state query finds after the step above, of all keys
--- windows tea     the same of one key; both are written by hand
--- fails           the step above ends the query with this message
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.golden.cells import NOTHING, Table, read

HOME = Path(__file__).parent
STEPS = ("feed", "watermark", "clock", "drain")
CHECKS = ("expect", "errors", "table", "windows", "fails")
WHOLE = ("query", "explain", "refused", "streams")
START_OF_CLOCK = "2024-01-01T09:00:00Z"
"""Where processing time stands before the first `clock` step."""


@dataclass(frozen=True)
class Block:
    """kind: the first word of its line; argument: the rest."""

    kind: str
    argument: str
    lines: tuple[str, ...]

    @property
    def body(self) -> str:
        return "\n".join(self.lines).strip("\n")


@dataclass(frozen=True)
class Step:
    """kind and argument of the block; rows: of a feed; checks: the blocks below it."""

    kind: str
    argument: str
    rows: Table = NOTHING
    checks: dict[str, Block] = field(default_factory=dict)

    def check(self, kind: str) -> Block | None:
        return self.checks.get(kind)


@dataclass(frozen=True)
class Golden:
    """name: the path below `tests/golden`, without its suffix."""

    name: str
    head: dict[str, str] = field(hash=False)
    blocks: tuple[Block, ...]

    @property
    def query(self) -> str:
        return self.whole("query") or ""

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
                rows = read(block.lines) if block.kind == "feed" else NOTHING
                steps.append(Step(block.kind, block.argument, rows))
            elif block.kind in CHECKS:
                steps[-1] = replace(steps[-1], checks={**steps[-1].checks, block.kind: block})
        return steps


def parse(name: str, text: str) -> Golden:
    head: dict[str, str] = {}
    blocks: list[Block] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("--- "):
            kind, _, argument = line[4:].strip().partition(" ")
            _known(kind, blocks, f"{name}, line {number}")
            blocks.append(Block(kind, argument, ()))
        elif blocks:
            blocks[-1] = replace(blocks[-1], lines=(*blocks[-1].lines, line))
        elif line.strip():
            key, colon, value = line.partition(":")
            if not colon:
                raise ValueError(f"{name}, line {number}: need `word: text`, got {line!r}")
            head[key.strip()] = value.strip()
    return Golden(name, head, tuple(blocks))


def _known(kind: str, before: list[Block], where: str) -> None:
    if kind not in STEPS + CHECKS + WHOLE:
        raise ValueError(f"{where}: no block is called {kind}")
    if kind in CHECKS and not any(block.kind in STEPS for block in before):
        raise ValueError(f"{where}: {kind} stands below no step")


def render(golden: Golden) -> str:
    head = [f"{key}: {value}" for key, value in golden.head.items()]
    return "\n".join([*head, *(line for block in golden.blocks for line in _lines(block))]) + "\n"


def _lines(block: Block) -> Iterator[str]:
    yield f"--- {block.kind} {block.argument}".rstrip()
    if block.body:
        yield block.body


def goldens() -> list[Golden]:
    """Every golden, by name."""
    return [load(path) for path in sorted(HOME.rglob("*.golden"))]


def load(path: Path) -> Golden:
    name = path.relative_to(HOME).with_suffix("").as_posix()
    return parse(name, path.read_text(encoding="utf-8"))


def path_of(golden: Golden) -> Path:
    return HOME / f"{golden.name}.golden"
