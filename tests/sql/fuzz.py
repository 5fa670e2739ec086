"""Texts drawn and damaged: binding one ends in a plan, which EXPLAIN prints, or in a QueryError.

    python -m tests.sql.fuzz --cases 1000000 --seed 1

A text is made from the grammar's own rules, or of a query of the goldens, the docs and
`queries/` that is damaged: tokens left out, doubled, swapped, taken from another, bytes
changed, a part nested deep. What ends otherwise is made as small as it fails alike, printed,
and written to `fuzz_failed.txt` beside this file; once mended it belongs in `fuzz_cases.txt`, each
of which is a test. A case costs some milliseconds, for most of them are no queries: a hundred a
second on half a core, so a million in two to three hours; `--seconds` ends a search sooner.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from lark import Lark
from lark.grammar import NonTerminal, Rule, Terminal

from sqlwin.errors import SqlwinError
from sqlwin.runtime.lowering.explained import explain_script
from sqlwin.sql import script
from sqlwin.sql.syntax.parsing.parser import grammar
from sqlwin.sql.text.prepared import QUOTED
from tests.support.sql.cases import ORDERS

ROOT = Path(__file__).parents[2]
KEPT = Path(__file__).with_name("fuzz_cases.txt")
FAILED = Path(__file__).with_name("fuzz_failed.txt")
STREAMS = ORDERS + "CREATE STREAM pays (id BIGINT, n INT, k STRING, ts TIMESTAMP, "
STREAMS += "WATERMARK FOR ts AS ts);\n"
KNOWN = {stream.name: stream for stream in script(STREAMS).streams}
"""What a text reads that declares nothing."""
TOKEN = re.compile(rf"{QUOTED}|\w+|\s+|.", re.DOTALL)
MOST = 4_000
"""Characters of a damaged text; longer ones are the business of test_depth.py."""

WORDS = (
    *("id", "product", "value", "n", "price", "ts_ms", "ts", "at", "orders", "pays", "rates"),
    *("k", "window_start", "window_end", "x", "o", "`a b`", "nobody", "__done", "__window"),
    *("COUNT", "SUM", "MAX", "LAG", "RANK", "FIRST_VALUE", "NTH_VALUE", "MODE", "STRING_AGG"),
    *("TUMBLE", "HOP", "SESSION", "CUMULATE", "abs", "concat", "CAST", "CASE", "WHEN", "THEN"),
    *("END", "NOT", "NULL", "IN", "EXISTS", "BETWEEN", "LIKE", "AND", "OR", "IS", "DISTINCT"),
    *("OVER", "FILTER", "INTERVAL", "DATE", "ARRAY", "STRUCT", "MAP", "ROLLUP", "GROUPING"),
    *("NOW", "PROCTIME", "CURRENT_DATE", "CURRENT_TIMESTAMP", "UNIX_TIMESTAMP", "LOCALTIME"),
    *("PERCENTILE_CONT", "WITHIN", "IGNORE", "NULLS", "EXCEPT", "LATERAL", "EXPLODE", "Ünï"),
)
LITERALS = (
    *("0", "1", "5", "1e5", "1.5", "2S", "9223372036854775808", "9" * 60, "9" * 5000, "1e999"),
    *("''", "'it''s'", r"'\u0041'", r"'\uD83D'", r"r'\'", "'5 minutes'", "'abc'", '"x"', "'\0'"),
    *("'99999999999999999999 days'", "'-1' DAY", "'2024-01-01'", "DATE '2024-02-30'", "X'4'"),
)
MARKS = (*"+-*/%=<>!|&^~?:;,.()[]{}@#$\\\"'`", "<=>", "::", "=>", "->", "||", "--", "/*", "*/")
ODD = ("\0", "\ud800", "\ue000", "\u00a0", "\u2028", "²", "١", "é", "😀", "\r", "\x0b", "\x1c")


@dataclass(frozen=True)
class Outcome:
    """kind: what was raised, "plan" for a bound script; place: where, for one that is wrong."""

    kind: str
    place: str = ""

    @property
    def fine(self) -> bool:
        return not self.place


def outcome(text: str) -> Outcome:
    try:
        made = script(text, {} if "CREATE" in text.upper() else KNOWN)
        explain_script(made)
    except SqlwinError as error:
        str(error)
        return Outcome(type(error).__name__)
    except Exception as error:  # noqa: BLE001 (whatever it is, it is the finding)
        trace, at = error.__traceback__, "?"
        while trace is not None:
            file = Path(trace.tb_frame.f_code.co_filename)
            if "sqlwin" in file.parts:
                at = f"{file.name}:{trace.tb_frame.f_code.co_name}"
            trace = trace.tb_next
        return Outcome(type(error).__name__, at)
    return Outcome("plan")


# --- texts ---------------------------------------------------------------------------


@lru_cache(maxsize=1)
def corpus() -> tuple[str, ...]:
    """Queries that were written: of goldens, the docs, `queries/` and the known cases."""
    found = [path.read_text("utf-8") for path in sorted(ROOT.glob("queries/**/*.sql"))]
    for path in sorted(ROOT.glob("tests/golden/**/*.golden")):
        block = re.search(r"--- query\n(.*?)\n---", path.read_text("utf-8"), re.DOTALL)
        found += [block[1]] if block else []
    for path in sorted(ROOT.glob("docs/**/*.md")):
        found += re.findall(r"```sql[^\n]*\n(.*?)```", path.read_text("utf-8"), re.DOTALL)
    return tuple(dict.fromkeys(text for text in (*found, *kept()) if len(text) < MOST))


def kept() -> list[str]:
    lines = KEPT.read_text("utf-8").splitlines() if KEPT.exists() else []
    return [json.loads(line) for line in lines if line and not line.startswith("#")]


def drawn(rng: random.Random) -> str:
    """One text; what it is made of is drawn, too."""
    make = rng.choice((damaged, damaged, damaged, spliced, generated, generated, scalar, scalar))
    text = make(rng)
    return text if rng.random() < 0.9 else STREAMS + text


def damaged(rng: random.Random) -> str:
    tokens = TOKEN.findall(rng.choice(corpus()))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        rng.choice(DAMAGES)(tokens, rng)
    return "".join(tokens)[:MOST]


def spliced(rng: random.Random) -> str:
    one, other = (TOKEN.findall(rng.choice(corpus())) for _ in range(2))
    return "".join([*one[: rng.randrange(len(one) + 1)], *other[rng.randrange(len(other)) :]])[
        :MOST
    ]


def _part(tokens: list[str], rng: random.Random) -> slice:
    start = rng.randrange(len(tokens) + 1)
    return slice(start, start + rng.choice((1, 1, 2, 3, 6)))


def _left_out(tokens: list[str], rng: random.Random) -> None:
    del tokens[_part(tokens, rng)]


def _doubled(tokens: list[str], rng: random.Random) -> None:
    part = _part(tokens, rng)
    tokens[part] = tokens[part] * rng.choice((2, 2, 3))


def _swapped(tokens: list[str], rng: random.Random) -> None:
    if tokens:
        one, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        tokens[one], tokens[other] = tokens[other], tokens[one]


def _replaced(tokens: list[str], rng: random.Random) -> None:
    tokens[_part(tokens, rng)] = [rng.choice((*WORDS, *LITERALS, *MARKS))]


def _put_in(tokens: list[str], rng: random.Random) -> None:
    at = rng.randrange(len(tokens) + 1)
    tokens[at:at] = [" ", expression(rng, 2), " "]


def _renamed(tokens: list[str], rng: random.Random) -> None:
    """A word for another of the same text: what is left may well be a query."""
    words = [at for at, token in enumerate(tokens) if re.match(r"[\w'`]", token)]
    if words:
        tokens[rng.choice(words)] = tokens[rng.choice(words)]


def _odd(tokens: list[str], rng: random.Random) -> None:
    at = rng.randrange(len(tokens) + 1)
    tokens[at:at] = [rng.choice((*ODD, chr(rng.randrange(128))))]


def _nested(tokens: list[str], rng: random.Random) -> None:
    part, depth = _part(tokens, rng), rng.choice((1, 3, 30, 150))
    opening, closing = rng.choice((("(", ")"), ("abs(", ")"), ("NOT ", ""), ("[", "]"), ("- ", "")))
    tokens[part] = [opening * depth, *tokens[part], closing * depth]


DAMAGES: tuple[Callable[[list[str], random.Random], None], ...] = (
    *(_left_out, _doubled, _swapped, _replaced, _replaced, _put_in, _put_in, _odd, _nested),
    *(_renamed, _renamed, _renamed),
)


# --- from the grammar ------------------------------------------------------------------


@lru_cache(maxsize=1)
def rules() -> dict[str, list[Rule]]:
    made: dict[str, list[Rule]] = {}
    for rule in _lark().rules:
        made.setdefault(rule.origin.name, []).append(rule)
    return made


def _lark() -> Lark:
    return grammar()


@lru_cache(maxsize=1)
def _terminals() -> dict[str, str]:
    return {t.name: t.pattern.value for t in _lark().terminals if t.pattern.type == "str"}


def generated(rng: random.Random) -> str:
    start = rng.choice(("query", "query", "query", "statement", "create_stream", "insert"))
    return " ".join(_words(start, rng, rng.choice((6, 10, 14, 20))))[:MOST]


def _words(name: str, rng: random.Random, depth: int) -> Iterator[str]:
    """A derivation of a rule; below `depth` the shortest of its expansions."""
    if name.startswith("run{"):
        yield expression(rng, rng.choice((0, 1, 1, 2, 3)))
        return
    options = rules().get(name)
    if options is None:
        return
    if depth <= 0:
        least = min(len(rule.expansion) for rule in options)
        options = [rule for rule in options if len(rule.expansion) == least]
    for symbol in rng.choice(options).expansion:
        if isinstance(symbol, Terminal):
            yield _terminal(symbol.name, rng)
        elif isinstance(symbol, NonTerminal) and depth > -20:
            yield from _words(symbol.name, rng, depth - 1)


def _terminal(name: str, rng: random.Random) -> str:
    if name == "NAME":
        return rng.choice(WORDS[:20])
    if name == "NUMBER":
        return rng.choice(("1", "5", "10", "0", "99999999999", "1.5"))
    if name in ("STRING", "TEXT"):
        return rng.choice(("'1'", "'5 minutes'", "'x'", "''", "'it''s'", '"y"'))
    words = _KEYWORDS.get(name)
    return rng.choice(words) if words else _terminals().get(name, name.replace("_", " ").strip())


_KEYWORDS = {
    "KIND": ("STREAM", "TABLE"),
    "JOIN": ("JOIN", "LEFT JOIN", "FULL OUTER JOIN", "ASOF JOIN", "SEMI JOIN", "CROSS JOIN"),
    "UNNEST": ("CROSS JOIN UNNEST", ", UNNEST", "LEFT JOIN UNNEST", ", LATERAL EXPLODE"),
    "LATERAL_VIEW": ("LATERAL VIEW", "LATERAL VIEW OUTER"),
    "NESTED": ("ARRAY", "MAP", "ROW"),
    "WATERMARK": ("WATERMARK FOR",),
    "STREAM_OPERATOR": ("ISTREAM", "RSTREAM"),
    "HINT": ("/*+ STATE_TTL('o' = '1 d') */", "/*+ JOIN_WINDOW('small') */", "/*+ x( */"),
    "SIDE": ("PRECEDING", "FOLLOWING"),
    "KSQL_WINDOW": ("WINDOW TUMBLING", "WINDOW SESSION", "WINDOW HOPPING"),
    "KSQL_PART": ("SIZE", "ADVANCE BY", "RETENTION", "GRACE PERIOD"),
    "DISTINCT_FROM": ("IS DISTINCT FROM", "IS NOT DISTINCT FROM"),
    "NTH_FROM": ("FROM FIRST", "FROM LAST"),
    "AS_OF": ("FOR SYSTEM_TIME AS OF",),
    "_GROUP": ("GROUP",),
    "NAMED_WINDOW": ("WINDOW",),
    "SET_OPERATION": ("INTERSECT", "EXCEPT", "EXCEPT ALL", "INTERSECT DISTINCT"),
    "MATCH": ("MATCH_CONDITION",),
    "OP": ("+", "-", "/", "%", "<", ">", "!", "|", "&", ":"),
}

EXPRESSIONS = (
    *("{a} + {b}", "{a} = {b}", "{a} AND {b}", "NOT {a}", "({a})", "-{a}", "{a} || {b}"),
    *("CASE WHEN {a} THEN {b} END", "CASE {a} WHEN {b} THEN {a} ELSE {b} END", "{a}::{t}"),
    *("CAST({a} AS {t})", "TRY_CAST({a} AS {t})", "{w}({a}, {b})", "{w}({a})", "{w}()", "{w}(*)"),
    *("{a} IN ({b}, {a})", "{a} BETWEEN {a} AND {b}", "{a} LIKE {b} ESCAPE {b}", "{a}[{b}]"),
    *("{a} IS NULL", "{w}.{w}", "{w}.{w}.{w}", "{w}.*", "*", "x -> {a}", "{w}(x -> {a})"),
    *(
        "ARRAY[{a}, {b}]",
        "EXPLODE({a})",
        "ARRAY({a}, {b})",
        "MAP({a}, {b})",
        "STRUCT({a} AS {w})",
        "NAMED_STRUCT('f', {a}).f",
    ),
    *("COUNT(DISTINCT {a})", "SUM({a}) FILTER (WHERE {b})", "MAX({a}) OVER (ORDER BY ts)"),
    *("{w}({a} ORDER BY {b})", "{w}({a}) WITHIN GROUP (ORDER BY {b})", "{w}({a}) IGNORE NULLS"),
    *("LAG({a}, {b}) OVER (PARTITION BY {a} ORDER BY ts)", "EXTRACT(YEAR FROM {a})", "{a} AS {w}"),
    *("INTERVAL {a} DAY", "INTERVAL '1' {w}", "{t} {a}", "{a} DIV {b}", "{a} <=> {b}", "{a}:{w}"),
    *("GROUPING({a})", "ROLLUP({a}, {b})", "GROUPING SETS (({a}), ())", "EXISTS ({a})", "{a} {b}"),
    *("WINDOW({a}, {b}).start", "TUMBLE_START({a}, {b})", "DATE_TRUNC({a}, {b})", "{a} RLIKE {b}"),
    *(
        "IF({a}, {b}, {a})",
        "COALESCE({a}, {b})",
        "TO_TIMESTAMP_LTZ({a}, {b})",
        "{a} AT TIME ZONE {b}",
    ),
    *("PERCENTILE({a}, {b})", "NTILE({a}) OVER w", "(SELECT {a} FROM orders)", "{a} ? {b} : {a}"),
    *("SUBSTRING({a} FROM {b})", "TRIM({a} FROM {b})", "POSITION({a} IN {b})", "OVERLAY({a}, {b})"),
)
TYPES = (
    "INT",
    "STRING",
    "DECIMAL(5, 9)",
    "DATE",
    "TIMESTAMP",
    "ARRAY<INT>",
    "BLOB",
    "FOO",
    "MAP<INT,",
)


def expression(rng: random.Random, depth: int) -> str:
    if depth <= 0 or rng.random() < 0.15:
        return rng.choice(WORDS[:12] if rng.random() < 0.6 else (*WORDS, *LITERALS))
    parts = {name: expression(rng, depth - 1) for name in "ab"}
    form = rng.choice(EXPRESSIONS)
    while "{w}" in form:
        form = form.replace("{w}", rng.choice(WORDS), 1)
    return form.format(t=rng.choice(TYPES), **parts)


def scalar(rng: random.Random) -> str:
    made = expression(rng, rng.choice((1, 2, 2, 3, 5)))
    return rng.choice(PLACES).format(made)


PLACES = (
    *("SELECT {} AS z FROM orders", "SELECT {} FROM orders", "SELECT id FROM orders WHERE {}"),
    "SELECT product, COUNT(*) AS c FROM TUMBLE(orders, ts, 1 HOUR) GROUP BY product HAVING {}",
    "SELECT {} AS z FROM HOP(orders, ts, 1 HOUR, 2 HOURS) GROUP BY product",
    "SELECT COUNT(*) FROM TUMBLE(orders, ts, 1 HOUR) GROUP BY {}",
    "SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM pays WHERE {})",
    "SELECT o.id FROM orders o JOIN pays p ON o.id = p.id AND {} RETAIN 1 HOUR",
    "SELECT o.id, {} AS z FROM orders o JOIN pays p ON o.id = p.id RETAIN 1 HOUR",
    "SELECT id FROM orders QUALIFY {} <= 3",
    "SELECT SUM(n) OVER (PARTITION BY {} ORDER BY ts) AS z FROM orders",
    "SELECT SUM(n) OVER (ORDER BY {} ROWS 5 PRECEDING) AS z FROM orders",
    "SELECT COUNT(*) FROM SESSION(orders PARTITION BY id, ts, ({}))",
    "SELECT COUNT(*) FROM TUMBLE(orders, ts, {})",
    "CREATE STREAM c (a INT, b AS {}); SELECT b FROM c",
    "CREATE STREAM c (a INT, ts TIMESTAMP, WATERMARK FOR ts AS {}); SELECT a FROM c",
    "SELECT COUNT(*) FROM orders OVER (PARTITION BY id ORDER BY ts SESSION 1 HOUR GAP END WHEN {})",
    "SELECT id FROM orders o ASOF JOIN pays p MATCH_CONDITION ({}) ON o.id = p.id",
)


# --- running ---------------------------------------------------------------------------


def minimised(text: str, wrong: Outcome) -> str:
    """As few tokens as fail alike: halves, quarters, …, single ones left out."""
    tokens = TOKEN.findall(text)
    size = len(tokens)
    while size >= 1:
        at = 0
        while at < len(tokens):
            fewer = tokens[:at] + tokens[at + size :]
            if outcome("".join(fewer)) == wrong:
                tokens = fewer
            else:
                at += size
        size //= 2
    return "".join(tokens)


def run(cases: int, seed: int, seconds: float = float("inf")) -> tuple[Counter[str], list[str]]:
    """How the cases ended, by kind, and a smallest text for each place that is wrong."""
    counted: Counter[str] = Counter()
    wrong: dict[Outcome, str] = {}
    begun = time.monotonic()
    for case in range(cases):
        if time.monotonic() - begun > seconds:
            break
        text = drawn(random.Random(f"{seed}.{case}"))
        found = outcome(text)
        counted[found.kind] += 1
        if not found.fine and found not in wrong:
            wrong[found] = minimised(text, found)
            _say(case, found, wrong[found])
    return counted, list(wrong.values())


def _say(case: int, found: Outcome, text: str) -> None:
    print(f"case {case}: {found.kind} at {found.place}\n{json.dumps(text)}", flush=True)
    with FAILED.open("a", encoding="utf-8") as file:
        file.write(json.dumps(text) + "\n")


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m tests.sql.fuzz")
    options.add_argument("--cases", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--seconds", type=float, default=float("inf"))
    given = options.parse_args()
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # it warns of what it then refuses
    begun = time.monotonic()
    counted, wrong = run(given.cases, given.seed, given.seconds)
    total, took = sum(counted.values()), time.monotonic() - begun
    print(f"{total} texts in {took:.0f} s, seed {given.seed}: {dict(counted.most_common())}")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
