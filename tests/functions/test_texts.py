"""Functions of texts: values that Spark gave, and what raises."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
import sqlglot

from sqlwin.functions.core.types import name
from sqlwin.functions.regex import matching
from sqlwin.functions.regex.matching import all_extracted, matcher, split
from sqlwin.functions.regex.replacing import replaced
from sqlwin.sandbox.running import Failed, run
from sqlwin.schema import Column
from sqlwin.sql.expressions.compile.compiled import compiled
from sqlwin.sql.expressions.compile.compiler import Uncompiled
from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark

ROWS = pa.table(
    {
        "s": ["abc", None],
        "b": pa.array([b"\xff\xfe", None], pa.binary()),
        "i": pa.array([7, None], pa.int32()),
        "d": [1.5, None],
        "a": pa.array([["x", None, "y"], None], pa.list_(pa.string())),
    }
)
SCHEMA = tuple(Column(field.name, field.type) for field in ROWS.schema)


def value(text: str) -> Any:
    made = compiled(sqlglot.parse_one(text, read=SqlwinSpark), SCHEMA)
    found = run(ROWS.slice(0, 1), f"SELECT {made.sql} AS x FROM rows")["x"]
    return found.to_pylist()[0]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("substring(s, 0, 2)", "ab"),
        ("substring(s, -2, 9)", "bc"),
        ("substring(s, -9, 8)", "ab"),
        ("left(s, -1)", ""),
        ("right(s, 2)", "bc"),
        ("upper('ß')", "SS"),
        ("initcap('aBC ÀÉ')", "Abc Àé"),
        ("concat()", ""),
        ("concat(s, NULL)", None),
        ("concat_ws('-', s, NULL, 1)", "abc-1"),
        ("concat_ws('-', s, a)", "abc-x-y"),
        ("length(b)", 2),
        ("octet_length('é')", 2),
        ("lpad(s, 5)", "  abc"),
        ("rpad(s, 2, 'x')", "ab"),
        ("lpad(s, 7, 'xy')", "xyxyabc"),
        ("trim(BOTH 'ac' FROM s)", "b"),
        ("btrim('xabcx', 'x')", "abc"),
        ("replace(s, '', 'X')", "abc"),
        ("translate('aab', 'aab', 'xyz')", "xxz"),
        ("overlay(s PLACING 'XX' FROM 2)", "aXX"),
        ("split_part('a,b', ',', -1)", "b"),
        ("substring_index('a.b.c', '.', -2)", "b.c"),
        ("instr(s, '')", 1),
        ("locate('b', s, 3)", 0),
        ("locate('b', s, NULL)", 0),
        ("position('c' IN s)", 3),
        ("find_in_set('b', 'a,b')", 2),
        ("levenshtein('kitten', 'sitting')", 3),
        ("levenshtein('kitten', 'sitting', 2)", -1),
        ("soundex('Tymczak')", "T522"),
        ("elt(2, 'a', 'b')", "b"),
        ("chr(321)", "A"),
        ("quote('it''s')", "'it\\'s'"),
        ("mask('AbCD123-@$#')", "XxXXnnn-@$#"),
        ("mask('aB1-', otherChar => '*', upperChar => 'Q')", "xQn*"),
        ("substr(s FROM 2 FOR 1)", "b"),
        ("luhn_check('79927398713')", True),
        ("is_valid_utf8(b)", False),
        ("reverse('a😀b')", "b😀a"),
        (
            "format_string('%05d|%-5s|%,.2f|%x', i, s, d * 1000, -1)",
            "00007|abc  |1,500.00|ffffffff",
        ),
        ("format_string('%s %s', d, NULL)", "1.5 null"),
        ("hex(-1)", "FFFFFFFFFFFFFFFF"),
        ("unhex('F')", b"\x0f"),
        ("unhex('XY')", None),
        ("base64(s)", "YWJj"),
        ("unbase64('YWI')", b"ab"),
        ("encode('é', 'UTF-16')", b"\xfe\xff\x00\xe9"),
        ("try_to_binary('a', 'bad')", None),
        ("try_to_binary('a', 1)", None),
        ("to_binary('abc', concat('utf', '-8'))", b"abc"),
        ("try_to_binary(' ab c=', 'base64')", b"i\xb7"),
        ("try_to_binary(' ab cdef= = ', 'base64')", None),
        ("schema_of_csv('14:30:45.5')", "STRUCT<_c0: TIMESTAMP>"),
        ("hash('Spark', array(123), 2)", -1321691492),
        ("hash(NULL)", 42),
        ("xxhash64('Spark', array(123), 2)", 5602566077635097486),
        ("sha2(s, 1)", None),
        ("parse_url('http://h/p?a=1&b=2#f', 'QUERY', 'b')", "2"),
        ("parse_url('', 'PATH')", ""),
        ("parse_url('not a url', 'HOST', 'k')", None),
        ("try_parse_url('not a url', 'HOST')", None),
        ("url_encode('a b~')", "a+b%7E"),
        ("s LIKE 'a\\_c'", False),
        ("'a_c' LIKE 'a!_c' ESCAPE '!'", True),
        ("'É' ILIKE '%é'", True),
        ("s NOT LIKE ANY ('a%', '%z')", True),
        ("s RLIKE 'c$'", True),
        ("regexp_replace(s, '(a)(b)', '$2 $1')", "b ac"),
        ("regexp_replace(s, '^b', 'X', 2)", "aXc"),
        (r"regexp_replace('a1b22', r'(\w)(x)?', r'[$1$2\\\$]')", r"[a\$][1\$][b\$][2\$][2\$]"),
        ("regexp_replace('aab', 'a*', '-')", "--b-"),
        ("regexp_extract(s, 'a(x)?', 1)", ""),
        ("regexp_extract(s, '(b)(c)', 2)", "c"),
        ("levenshtein('né', 'ne')", 1),
        ("from_base32('ME======')", b"a"),
        ("from_base32('ß')", b""),
        ("regexp_extract(s, 'x', 0)", ""),
        ("regexp_extract_all(s, '[bc]', 0)", ["b", "c"]),
        ("regexp_substr(s, 'x')", None),
        ("split('a,b,,', ',')", ["a", "b", "", ""]),
        ("split('one1two2three', '[12]', 2)", ["one", "two2three"]),
    ],
)
def test_value(text: str, wanted: object) -> None:
    assert value(text) == wanted


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("elt(3, s, s)", "INVALID_ARRAY_INDEX"),
        ("split_part(s, ',', i - 7)", "INVALID_INDEX_OF_ZERO"),
        ("encode('é', 'US-ASCII')", "MALFORMED_CHARACTER_CODING"),
        ("encode(s, 'bad')", "INVALID_PARAMETER_VALUE.CHARSET"),
        ("to_binary('x', 'hex')", "CONVERSION_INVALID_INPUT"),
        ("validate_utf8(b)", "INVALID_UTF8_STRING"),
        ("btrim(b, b)", "INVALID_UTF8_STRING"),
        ("parse_url('not a url', 'HOST')", "INVALID_URL"),
        ("url_decode('%zz')", "CANNOT_DECODE_URL"),
        (r"s LIKE 'a\\b'", "INVALID_FORMAT.ESC_IN_THE_MIDDLE"),
        ("s RLIKE '['", "Unclosed character class"),
        ("regexp_replace(s, 'a', '$1')", "INVALID_REGEXP_REPLACE"),
        ("regexp_extract(s, '(a)', 2)", "INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX"),
        ("format_string('%d', d)", "IllegalFormatConversionException"),
        ("format_string('%s %s', s)", "MissingFormatArgumentException"),
        ("repeat(s, 2000000)", "more than 4194304 bytes"),
        ("lpad(s, 2000000000)", "more than 4194304 bytes"),
        ("replace(repeat(s, 10000), 'a', repeat(s, 1000))", "more than 4194304 bytes"),
    ],
)
def test_what_raises(text: str, reason: str) -> None:
    with pytest.raises(Failed, match=reason.replace(".", r"\.")):
        value(text)


@pytest.mark.parametrize(
    "text",
    ["base64(i)", "hash(map(1, 2))", "mask(s, 'QQ')", "s COLLATE UNICODE", "s LIKE s ESCAPE 'ab'"],
)
def test_what_is_refused(text: str) -> None:
    with pytest.raises(Uncompiled):
        value(text)


def test_types() -> None:
    texts = ("length(s)", "hex(i)", "hash(s)", "crc32(s)", "split(s, ',')", "concat(b, b)")
    made = [compiled(sqlglot.parse_one(text, read=SqlwinSpark), SCHEMA) for text in texts]
    types = ["int", "string", "int", "bigint", "array<string>", "binary"]
    assert [name(each.type) for each in made] == types


@pytest.mark.parametrize(
    ("pattern", "text", "wanted"),
    [
        ("a*", "baac", ["", "aa", "", ""]),
        ("c$", "abc\n", ["c"]),
        ("c$", "abc\nd", []),
        (r"(?m)^\w", "a\nb", ["a", "b"]),
        (r"\bé\b", "é è", ["é"]),
        ("[a-d&&[^b]]+", "abcd", ["a", "cd"]),
        ("(a)\\1", "aa", ["aa"]),
        ("a(?=b)", "acab", ["a"]),
        ("(?i)É", "é", []),
        ("(?iu)É", "é", ["é"]),
        (".", "\r\u2028x", ["x"]),
        (r"\Qa.c\E", "abc a.c", ["a.c"]),
        (r"\p{Lu}\P{L}", "aB1", ["B1"]),
        (r"[^\s\d]+", "a1 b", ["a", "b"]),
    ],
)
def test_java_patterns(pattern: str, text: str, wanted: list[str]) -> None:
    assert all_extracted(text, pattern, 0) == wanted


@pytest.mark.parametrize("pattern", ["(", ")", "*", "a**", "a{", "[b-a]", "\\", r"\y", "(?<1>a)"])
def test_what_is_no_pattern(pattern: str) -> None:
    with pytest.raises(ValueError, match="PatternSyntaxException"):
        matcher(pattern)


def test_what_takes_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "SECONDS", 0.05)
    matching.begin()
    assert not matcher("(a+)+b").find("a" * 5000)
    with pytest.raises(ValueError, match="takes more than"):
        matcher(r"(?=(a+)+b)").find("a" * 5000)


def test_replacement_and_split() -> None:
    assert replaced("a1b22", r"\d", r"\$$0") == "a$1b$2$2"
    assert split("abc", "", 2) == ["a", "bc"]
    assert split("", ",", -1) == [""]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("regexp_replace('😀', '', '-')", "-?-?-"),
        ("regexp_replace('a😀b', 'x*', '-')", "-a-?-?-b-"),
        ("regexp_replace('a😀b', 'a*', '-')", "--?-?-b-"),
        ("regexp_count('😀', '')", 3),
        ("split('😀b', 'x*')", ["?", "?", "b", ""]),
        ("regexp_extract_all('a😀', '(b*)')", ["", "", "", ""]),
        ("regexp_replace('😀', '.', '<$0>')", "<😀>"),
    ],
)
def test_an_empty_match_goes_on_in_the_middle_of_a_pair(text: str, wanted: Any) -> None:
    """As Java's matcher, which counts in units of UTF-16."""
    assert value(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("overlay('abcdef' PLACING '' FROM -2147483648)", "abcdef"),
        ("overlay('abcdef' PLACING 'x' FROM 2147483647)", "abcdefx"),
        ("overlay('abcdef' PLACING 'x' FROM 3 FOR 2147483647)", "abx"),
    ],
)
def test_overlay_from_far_away(text: str, wanted: str) -> None:
    assert value(text) == wanted


def test_try_cast_of_bytes_that_are_no_text_raises() -> None:
    with pytest.raises(Failed, match="INVALID_UTF8_STRING"):
        value("TRY_CAST(b AS STRING)")
