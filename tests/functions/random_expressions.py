"""Random typed expressions against Spark: what holds of each function, composed.

    python -m tests.functions.random_expressions --cases 10000 --seed 1
    python -m tests.functions.random_expressions --cases 1 --seed 1 --from 4711   # one of them

An expression is drawn by its type from `SIGNATURES`, to a depth of 4; its leaves are columns of
`values` and literals. Of one that differs the smallest part that differs by itself is shown, once
for each function at its root.

>>> drawn(Random("1 0"), "int", 2).text
'((i ^ CAST(NULL AS INT)) ^ (-5 >> 1))'
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.functions.classes import CLASSES, Verdict, verdict
from tests.functions.compare import report
from tests.functions.matrix import Case
from tests.functions.oracle import Answer, Oracle, session
from tests.functions.ours import Ours, answer
from tests.functions.record import line, pack, unpacked

DEPTH = 4
LEAVES = {
    "boolean": ("b", "b2", "TRUE", "FALSE", "CAST(NULL AS BOOLEAN)"),
    "int": ("i", "i2", "i", "0", "1", "-5", "100", "CAST(NULL AS INT)"),
    "bigint": ("l", "l2", "l", "1L", "3000000000"),
    "double": ("d", "d2", "d", "0.5D", "-2D", "1e3"),
    "decimal": ("dec", "dec2", "dec", "1.5", "0.01", "100.00"),
    "string": ("s", "s2", "s", "''", "'a'", "'Ab c'", "'é😀'"),
    "date": ("dt", "dt2", "dt", "DATE '2024-02-29'"),
    "timestamp": ("ts", "ts2", "ts", "TIMESTAMP '2024-02-29 10:11:12.5'"),
}
_NUMBERS = ("int", "bigint", "double", "decimal")
_ORDERED = (*_NUMBERS, "string", "date", "timestamp")
SIGNATURES: dict[str, tuple[str, ...]] = {
    "boolean": (
        *(f"({{{type_}}} {sign} {{{type_}}})" for type_ in _ORDERED for sign in ("=", "<", ">=")),
        *(f"({{{type_}}} <=> {{{type_}}})" for type_ in (*_ORDERED, "boolean")),
        *(f"({{{type_}}} IS NULL)" for type_ in _ORDERED),
        *(
            "({int} < {bigint})",
            "({int} > {double})",
            "({decimal} < {int})",
            "({decimal} = {double})",
        ),
        *("({date} <= {timestamp})", "({boolean} AND {boolean})", "({boolean} OR {boolean})"),
        *("(NOT {boolean})", "({int} IN ({int}, {int}, 1))", "({int} BETWEEN {int} AND {int})"),
        *("startswith({string}, {string})", "contains({string}, {string})", "({string} LIKE 'a%')"),
        *("CAST({int} AS BOOLEAN)", "isnan({double})", "({boolean} IS NOT TRUE)"),
    ),
    "int": (
        *(f"({{int}} {sign} {{int}})" for sign in ("+", "-", "*", "%", "&", "|", "^")),
        *("abs({int})", "(- {int})", "length({string})", "instr({string}, {string})"),
        *(
            "year({date})",
            "month({date})",
            "dayofweek({date})",
            "weekday({date})",
            "hour({timestamp})",
        ),
        *("datediff({date}, {date})", "CAST({double} AS INT)", "CAST({bigint} AS INT)"),
        *("CAST({decimal} AS INT)", "TRY_CAST({string} AS INT)", "TRY_CAST({double} AS INT)"),
        *(
            "pmod({int}, {int})",
            "ascii({string})",
            "CAST({boolean} AS INT)",
            "try_add({int}, {int})",
        ),
        *("({int} << 2)", "({int} >> 1)", "levenshtein({string}, {string})"),
    ),
    "bigint": (
        *(f"({{bigint}} {sign} {{bigint}})" for sign in ("+", "-", "*", "%")),
        *("({int} + {bigint})", "({int} DIV {int})", "({bigint} DIV {int})", "floor({double})"),
        *(
            "ceil({double})",
            "CAST({int} AS BIGINT)",
            "unix_timestamp({timestamp})",
            "abs({bigint})",
        ),
        *("CAST({timestamp} AS BIGINT)", "unix_micros({timestamp})", "xxhash64({int}, {string})"),
        *("TRY_CAST({string} AS BIGINT)", "CAST({double} AS BIGINT)"),
    ),
    "double": (
        *(f"({{double}} {sign} {{double}})" for sign in ("+", "-", "*", "/", "%")),
        *(
            "({int} / {int})",
            "({int} + {double})",
            "({double} * {decimal})",
            "CAST({int} AS DOUBLE)",
        ),
        *(
            "CAST({decimal} AS DOUBLE)",
            "TRY_CAST({string} AS DOUBLE)",
            "abs({double})",
            "sqrt({double})",
        ),
        *(
            "round({double}, 2)",
            "(- {double})",
            "CAST({bigint} AS DOUBLE)",
            "try_divide({int}, {int})",
        ),
    ),
    "decimal": (
        *(f"({{decimal}} {sign} {{decimal}})" for sign in ("+", "-", "*", "/", "%")),
        *("({decimal} + {int})", "({decimal} * {int})", "CAST({int} AS DECIMAL(12, 2))"),
        *(
            "CAST({double} AS DECIMAL(20, 4))",
            "round({decimal}, 1)",
            "abs({decimal})",
            "(- {decimal})",
        ),
        *("TRY_CAST({string} AS DECIMAL(10, 2))", "CAST({decimal} AS DECIMAL(8, 1))"),
    ),
    "string": (
        *(
            "concat({string}, {string})",
            "({string} || {int})",
            "upper({string})",
            "lower({string})",
        ),
        *("trim({string})", "substring({string}, {int})", "substring({string}, {int}, {int})"),
        *("left({string}, 2)", "right({string}, {int})", "lpad({string}, 5, {string})"),
        *("replace({string}, {string}, {string})", "reverse({string})", "initcap({string})"),
        *("translate({string}, 'abc', 'x')", "concat_ws({string}, {string}, {string})"),
        *("substring_index({string}, {string}, 1)", "split_part({string}, ',', 1)"),
        *(f"CAST({{{type_}}} AS STRING)" for type_ in (*_ORDERED, "boolean")),
        *("date_format({timestamp}, 'yyyy-MM-dd HH:mm:ss.SSS')", "hex({string})", "md5({string})"),
    ),
    "date": (
        *("CAST({timestamp} AS DATE)", "date_add({date}, {int} % 1000)", "({date} - {int} % 100)"),
        *("last_day({date})", "trunc({date}, 'MM')", "add_months({date}, {int} % 100)"),
        *("TRY_CAST({string} AS DATE)", "({date} + INTERVAL '1' MONTH)", "next_day({date}, 'MON')"),
    ),
    "timestamp": (
        *(
            "CAST({date} AS TIMESTAMP)",
            "date_trunc('HOUR', {timestamp})",
            "timestamp_seconds({int})",
        ),
        *("({timestamp} + INTERVAL '1' DAY)", "({timestamp} - INTERVAL '90' MINUTE)"),
        *("TRY_CAST({string} AS TIMESTAMP)", "({timestamp} + INTERVAL '1' MONTH)"),
        *("from_utc_timestamp({timestamp}, 'Europe/Paris')", "date_trunc('WEEK', {timestamp})"),
    ),
}
_ANY = (
    *("coalesce({0}, {0})", "nullif({0}, {0})", "greatest({0}, {0})", "least({0}, {0})"),
    *("if({boolean}, {0}, {0})", "CASE WHEN {boolean} THEN {0} WHEN {boolean} THEN {0} END"),
    "CASE WHEN {boolean} THEN {0} ELSE {0} END",
)
"""Of every type."""


@dataclass(frozen=True)
class Tree:
    """An expression. template: of its root."""

    text: str
    template: str
    parts: tuple[Tree, ...] = ()

    def all(self) -> Iterator[Tree]:
        for part in self.parts:
            yield from part.all()
        yield self


def drawn(random: Random, type_: str, depth: int) -> Tree:
    if depth == 0 or random.random() < 0.1:
        leaf = random.choice(LEAVES[type_])
        return Tree(leaf, leaf)
    templates = (*SIGNATURES[type_], *(each.replace("{0}", f"{{{type_}}}") for each in _ANY))
    template = random.choice(templates)
    holes = re.findall(r"\{(\w+)\}", template)
    parts = tuple(drawn(random, hole, depth - 1) for hole in holes)
    text = re.sub(r"\{\w+\}", "{}", template).format(*(part.text for part in parts))
    return Tree(text, template, parts)


@dataclass
class Search:
    """oracle: none where all answers were kept. kept: Spark's, by expression."""

    oracle: Oracle | None
    kept: dict[str, Answer]
    shown: set[tuple[str, str]] = field(default_factory=set)

    def verdict(self, tree: Tree) -> tuple[Case, Answer, Ours, Verdict]:
        case = Case("random", tree.text)
        if tree.text not in self.kept:
            assert self.oracle is not None
            self.kept[tree.text] = self.oracle.answer(case)
        theirs, ours = self.kept[tree.text], answer(case)
        return case, theirs, ours, verdict(theirs, ours)

    def smallest(self, tree: Tree, kind: str) -> Tree:
        """The smallest part that is of the class by itself, of those that Spark can answer."""
        parts = sorted(set(tree.all()), key=lambda part: len(part.text))
        known = (part for part in parts if self.oracle or part.text in self.kept)
        return next(part for part in known if self.verdict(part)[3].kind == kind)

    def run(self, tree: Tree, number: int, wanted: tuple[str, ...]) -> str:
        """The class of an expression, which is printed with its smallest part if it is new."""
        kind = self.verdict(tree)[3].kind
        if kind in wanted:
            part = self.smallest(tree, kind)
            if (kind, part.template) not in self.shown:
                self.shown.add((kind, part.template))
                print(f"-- {number}: {tree.text}")
                print("\n".join(report(*self.verdict(part), rows=2)), flush=True)
        return kind


def trees(seed: int, numbers: range) -> Iterator[tuple[int, Tree]]:
    for number in numbers:
        random = Random(f"{seed} {number}")
        yield number, drawn(random, random.choice(list(SIGNATURES)), DEPTH)


def searched(search: Search, given: argparse.Namespace) -> None:
    counts: Counter[str] = Counter()
    for number, tree in trees(given.seed, range(given.first, given.first + given.cases)):
        counts[search.run(tree, number, tuple(given.show.split(",")))] += 1
    print(", ".join(f"{kind}: {counts[kind]}" for kind in CLASSES if counts[kind]))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.functions.random_expressions")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--show", default=",".join(each for each in CLASSES if each != "same"))
    parser.add_argument(
        "--answers", type=Path, help="a file that Spark's are read from, or kept in"
    )
    given = parser.parse_args()
    path: Path | None = given.answers
    if path is not None and path.exists():
        return searched(Search(None, unpacked(path)), given)
    with session() as spark:
        search = Search(Oracle(spark), {})
        searched(search, given)
    if path is not None:
        pack(path, (line(Case("random", text), reported) for text, reported in search.kept.items()))
    return None


if __name__ == "__main__":
    main()
