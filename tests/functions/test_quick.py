"""What is quick for the usual values says what the exact rule says, for all others, too."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from sqlwin.functions.casts import strings as cast_strings
from sqlwin.functions.casts import times as cast_times
from sqlwin.functions.formats import numbers as numbers_as_text
from sqlwin.functions.instants.iso import is_time_of_day
from sqlwin.functions.json.path import found
from sqlwin.functions.numbers import rounding
from sqlwin.functions.regex import matching
from sqlwin.functions.regex.matching import split
from sqlwin.functions.texts import parts, regex
from sqlwin.functions.times import by_pattern as times_by_pattern
from sqlwin.schema import TIMESTAMP
from tests.functions.evaluating import values

DRAW = random.Random(1)
MODULES = (cast_strings, cast_times, numbers_as_text, rounding, times_by_pattern)
ODD = [
    None,
    "",
    "-0",
    "1e400",
    "+-5",
    "1_0",
    "0x1A",
    "inf",
    "-infinity",
    "nan",
    "٣",
    " 5\t",
    "5 \x0b",
]
DAYS = [
    "infinity",
    "-infinity",
    "epoch",
    "20240230",
    "2023-02-29",
    "0000-01-01",
    "0999-01-01",
    "0044-03-15 (BC)",
    "12345-01-01",
    "2024-01-01 10:00:00Z",
    "2024-01-01T10:00:00.5Z",
    "2024-01-01 00:00:00ZZ",
    "2024-01-01\n",
    None,
]


def some(letters: str, longest: int, count: int = 3000) -> list[str]:
    return ["".join(DRAW.choices(letters, k=DRAW.randint(0, longest))) for _ in range(count)]


def numbers() -> list[float | None]:
    ties = [(DRAW.randint(-(10**6), 10**6) + 0.5) / 10 ** DRAW.randint(0, 6) for _ in range(3000)]
    others = [DRAW.uniform(-1, 1) * 10 ** DRAW.randint(-3, 12) for _ in range(3000)]
    return [*ties, *others, float("nan"), float("inf"), -0.0, 1e308, -0.001, None]


def instants() -> list[int | None]:
    wide = [DRAW.randint(-65 * 10**15, 260 * 10**15) for _ in range(2000)]
    early = [DRAW.randint(-62135596800, -61135596800) * 10**6 for _ in range(1000)]
    return [*wide, *early, -62135596800000001, -62135596800000000, 253402300800000000, None]


def days(form: str) -> list[str | None]:
    """Texts of a form, most of them damaged."""
    drawn = some("0123456789-: .T/Z+", 20, 1000)
    made: list[str | None] = [*DAYS, *(text for text in drawn if not is_time_of_day(text))]
    for _ in range(2000):
        fields = (DRAW.randint(1, 9999), DRAW.randint(1, 13), DRAW.randint(1, 31))
        text = form.format(*fields, *(DRAW.randint(0, top) for top in (24, 60, 60)))
        at = DRAW.randint(0, len(text))
        cut = at + DRAW.randint(0, 1)
        made += [text, text[:at] + DRAW.choice("0123456789-: .T") + text[cut:]]
    return made


TEXTS = [*some("0123456789" * 2 + "+-.eE_xXbBdDfFnaif\t ,'", 6), *some("0123456789-.e", 22), *ODD]
CASES: list[tuple[str, pa.Array]] = [
    *((f"TRY_CAST(a AS {to})", pa.array(TEXTS)) for to in ("TINYINT", "INT", "BIGINT", "DOUBLE")),
    ("TRY_CAST(a AS FLOAT)", pa.array(TEXTS)),
    *((f"ROUND(a, {scale})", pa.array(numbers())) for scale in (1, 2, 8)),
    ("BROUND(a, 2)", pa.array(numbers())),
    *((f"FORMAT_NUMBER(a, {places})", pa.array(numbers())) for places in (0, 2, 5)),
    *(
        (f'DATE_FORMAT(a, "{pattern}")', pa.array(instants(), TIMESTAMP))
        for pattern in ("yyyy-MM-dd", "yy/M/d H:mm a ss.SSS", "EEE E EEEE MMM MMMM DDD h '%d''%'")
    ),
    *(
        (f"TRY_CAST(a AS {to})", pa.array([*days(form), *days(form + " {:02}:{:02}:{:02}" + end)]))
        for to, form, end in (
            ("DATE", "{:04}-{:02}-{:02}", ".25"),
            ("TIMESTAMP", "{:04}-{:02}-{:02}", ""),
            ("TIMESTAMP", "{:04}-{:02}-{:02}", ".120"),
        )
    ),
    *(
        (f"TRY_TO_TIMESTAMP(a, '{pattern}')", pa.array(days(form)))
        for pattern, form in (
            ("yyyy-MM-dd", "{:04}-{:02}-{:02}"),
            ("yyyy-MM-dd HH:mm:ss", "{:04}-{:02}-{:02} {:02}:{:02}:{:02}"),
            ("yyyyMMdd", "{:04}{:02}{:02}"),
            ("dd/MM/yyyy", "{2:02}/{1:02}/{0:04}"),
        )
    ),
]


def answers(expression: str, given: pa.Array) -> list[Any]:
    return values(f"CAST({expression} AS STRING)", pa.table({"a": given}))


def exact(_test: str, _quick: str, otherwise: str, _given: str = "{0}") -> str:
    return otherwise


@pytest.mark.parametrize(("expression", "given"), CASES)
def test_it_says_what_the_exact_rule_says(
    expression: str, given: pa.Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = answers(expression, given)
    for module in MODULES:
        monkeypatch.setattr(module, "usual", exact)
    slow = answers(expression, given)
    assert [t for t in zip(given, quick, slow, strict=True) if t[1] != t[2]] == []


VALUES = [
    "1",
    "-1",
    "0",
    "-0",
    "007",
    "1.5",
    "1e3",
    "-0.0",
    "123456789012345678901",
    "999999999999999999",
    "true",
    "null",
    "NaN",
    "nan",
    "-inf",
    '""',
    '"x"',
    '"1.50"',
    '"[a"',
    '"{b"',
    '"-0"',
    '"é"',
    '"a\\n"',
    '"\\u0041"',
    '"\\ud800"',
    "'q'",
    '"info,}"',
    '":nan"',
    '"~"',
    '"-5"',
    '"1e5"',
    "+1",
    ".5",
    "1.",
    '"]"',
]
KEYS = ('"a"', '"b"', "'a'", "a", '"\\u0061"', '"A"')


def document(depth: int = 0) -> str:
    """Mostly JSON."""
    kind, count = DRAW.random(), DRAW.randint(0, 3)
    end = DRAW.choice(["", "", "", "", ",", ", "])
    if depth < 3 and kind < 0.4:
        fields = (f"{DRAW.choice(KEYS[: 2 + 4 * (kind < 0.1)])}: " for _ in range(count))
        return f"{{{', '.join(field + document(depth + 1) for field in fields)}{end}}}"
    if depth < 3 and kind < 0.6:
        return f"[{','.join(document(depth + 1) for _ in range(count))}{end}]"
    return DRAW.choice(VALUES)


DOCUMENTS = [document() + DRAW.choice(["", "", "", " ", " x", "}"]) for _ in range(6000)]


@pytest.mark.parametrize("path", ["$.a", "$.a.b", "$[0]", "$.a[1]", "$[1].a[0]"])
def test_what_a_path_leads_to_is_what_the_reader_of_tokens_finds(path: str) -> None:
    quick = values(f"GET_JSON_OBJECT(a, '{path}')", pa.table({"a": DOCUMENTS}))
    slow = [found(text, path) for text in DOCUMENTS]
    assert [t for t in zip(DOCUMENTS, quick, slow, strict=True) if t[1] != t[2]] == []


WORDS = [*some("abc, é\0", 12), None]


def all_rows(value: Any) -> pa.Array:
    return pa.array([value] * len(WORDS), pa.int32() if isinstance(value, int) else pa.string())


@pytest.mark.parametrize(
    ("delimiter", "count"), [(" ", 1), (" ", 2), ("a", 4), ("é", 2), ("\0", 3)]
)
def test_substring_index_by_arrow(delimiter: str, count: int) -> None:
    made = parts._substring_index.compute(pa.array(WORDS), all_rows(delimiter), all_rows(count))
    assert made.to_pylist() == [w and parts._indexed(w, delimiter, count) for w in WORDS]


@pytest.mark.parametrize("pattern", ["[, ]+", "a|b", "a+?", "[ab]{2}", ",", "(a)(b)?"])
@pytest.mark.parametrize("limit", [-1, 0, 1, 2])
def test_split_by_arrow(pattern: str, limit: int) -> None:
    made = regex._split.compute(pa.array(WORDS), all_rows(pattern), all_rows(limit))
    assert made.to_pylist() == [None if w is None else split(w, pattern, limit) for w in WORDS]


@pytest.mark.parametrize(("old", "new"), [("abc", "xyz"), ("aab", "xy"), ("aé", "é"), ("", "x")])
def test_translate_by_the_engine(old: str, new: str) -> None:
    made = values(f"TRANSLATE(a, '{old}', '{new}')", pa.table({"a": WORDS}))
    exact = parts._translate.compute(
        pa.string(), pa.array(WORDS), all_rows(old), all_rows(new)
    ).to_pylist()
    assert made == exact


@pytest.mark.parametrize("pattern", ["a", "[ab]+", "(a)|b", "a.?", "é|a", ",", "(b)?a", "a*"])
def test_matches_by_the_engine(pattern: str) -> None:
    table = pa.table({"a": WORDS})
    for call, slow in (
        ("REGEXP_COUNT(a, {})", regex._counted),
        ("REGEXP_INSTR(a, {})", lambda word, pattern: regex._placed(word, pattern, 0)),
        ("REGEXP_SUBSTR(a, {})", lambda *given: matching.extracted(*given, 0) or None),
        ("REGEXP_EXTRACT_ALL(a, {}, 0)", lambda *given: matching.all_extracted(*given, 0)),
        ("REGEXP_EXTRACT_ALL(a, {}, 1)", lambda *given: matching.all_extracted(*given, 1)),
    ):
        if "1)" in call and "(" not in pattern:
            continue
        quick = values(call.format(f"'{pattern}'"), table)
        assert quick == [None if word is None else slow(word, pattern) for word in WORDS], call
