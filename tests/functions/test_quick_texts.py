"""Functions of texts that look at columns say what they say of each text by itself."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pytest

from sqlwin.functions.casts.nested import _printed
from sqlwin.functions.texts import hashes, parts, urls
from sqlwin.functions.texts.case import capitalized, initcap
from tests.functions.evaluating import values

DRAW = random.Random(1)


def some(letters: str, longest: int, count: int = 2000) -> list[str | None]:
    drawn = ["".join(DRAW.choices(letters, k=DRAW.randint(0, longest))) for _ in range(count)]
    return [*drawn, "", None]


def url() -> str:
    user = DRAW.choice(["", "", "", "me@", "me:pw@", "@"])
    host = DRAW.choice(
        ["host", "a.b-c.de", "a.b.", "1.2.3.4", "1.2", "[::1]", "-a", "a-", "é.fr", ""]
    )
    port = DRAW.choice(["", "", ":80", ":", ":x"])
    path = DRAW.choice(["", "/", "/a/b;c=1", "/%41%4", "/%4g", "/a b", "/é", "/'()", "a", "//x"])
    query = DRAW.choice(
        ["", "", "?", "?a=1&b=2", "?b=&a=%20", "?ab=1&b", "?a=?&[b]=1", "?é=1", "?b=1&b=2"]
    )
    end = DRAW.choice(["", "", "#", "#top", "#a#b", "\n", " ", "#\u2028"])
    scheme = DRAW.choice(
        ["http://", "https://", "x+y.z://", "mailto:", "//", "", "1a://", "file:///"]
    )
    return scheme + user + host + port + path + query + end


URLS: list[str | None] = [*(url() for _ in range(3000)), "", "a:b", "%", None]
PARTS = ("HOST", "PATH", "QUERY", "REF", "PROTOCOL", "FILE", "AUTHORITY", "USERINFO", "other")


def each(one: Callable[..., Any], texts: list[str | None]) -> list[Any]:
    return [None if text is None else one(text) for text in texts]


@pytest.mark.parametrize("wanted", PARTS)
def test_parts_of_urls(wanted: str) -> None:
    made = values(f"TRY_PARSE_URL(a, '{wanted}')", pa.table({"a": URLS}))
    assert made == each(lambda text: urls._tried(text, wanted), URLS)


@pytest.mark.parametrize("key", ["a", "b", "A", "é", "[ab]", ""])
def test_keys_of_queries(key: str) -> None:
    made = values(f"TRY_PARSE_URL(a, 'QUERY', '{key}')", pa.table({"a": URLS}))
    assert made == each(lambda text: urls._tried(text, "QUERY", key), URLS)


def test_a_text_that_is_no_url_raises_beside_those_of_the_usual_form() -> None:
    with pytest.raises(Exception, match="INVALID_URL"):
        values("PARSE_URL(a, 'HOST')", pa.table({"a": ["http://host/p", "http://a b"]}))


def test_urls_are_encoded_and_decoded() -> None:
    texts = some("abcXYZ019 %+-_.*~/?&=é😀\n\0\"'", 8)
    made = values("URL_ENCODE(a)", pa.table({"a": texts}))
    whole = each(lambda t: quote(t, safe="*-_. ").replace("~", "%7E").replace(" ", "+"), texts)
    assert made == whole
    escaped = [*made, *some("%%%%0147aAfF89+ éx\n", 7, 4000)]
    decoded = values("TRY_URL_DECODE(a)", pa.table({"a": escaped}))
    assert decoded == each(urls._try_decoded, escaped)


@pytest.mark.parametrize("letters", ["aZ 9-'_\n", "aZ é\u0130ßΣσ ǆ", " "])
def test_initcap(letters: str) -> None:
    texts = pa.array(some(letters, 7), pa.string())
    for given in (texts, texts[5:50], texts[:0], pa.nulls(3, pa.string())):
        assert initcap.compute(given).to_pylist() == each(capitalized, given.to_pylist())


def test_sha_2_of_256_bits_by_the_engine() -> None:
    texts = some("aé\0 ", 90, 300)
    for given in (pa.array(texts), pa.array(texts).cast(pa.binary())):
        made = values("SHA2(a, 256)", pa.table({"a": given}))
        assert made == each(lambda value: hashes._sha2(value, 256), given.to_pylist())


@pytest.mark.parametrize(
    ("old", "new"), [("a", "xy"), ("ab", ""), ("aa", "a"), ("é", "'"), ("", "x"), ("a", "\0")]
)
def test_replace_by_the_engine(old: str, new: str) -> None:
    texts = [*some("abé'\0", 9), "ab" * 50_000]
    quoted = new.replace("'", "''")
    made = values(f"REPLACE(a, '{old}', '{quoted}')", pa.table({"a": texts}))
    assert made == each(lambda text: parts._replaced(text, old, new), texts)


def test_what_replace_makes_has_a_bound() -> None:
    table = pa.table({"a": ["a" * 1000]})
    with pytest.raises(Exception, match="a value of more than"):
        values(f"REPLACE(a, 'a', '{'x' * 30_000}')", table)


def test_texts_of_arrays() -> None:
    rows = [None if DRAW.random() < 0.1 else some("ab,", 3, DRAW.randint(0, 3)) for _ in range(500)]
    lists = pa.array([*rows, []], pa.list_(pa.string()))
    for given in (lists, lists[7:90], lists[:0]):
        ends = [pa.array([end] * len(given), pa.string()) for end in "[]"]
        assert _printed.compute(given, *ends).to_pylist() == each(
            lambda row: f"[{', '.join('null' if part is None else part for part in row)}]",
            given.to_pylist(),
        )
