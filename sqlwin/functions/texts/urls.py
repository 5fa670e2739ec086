"""URLs: taken apart, encoded and decoded, as Java's URI, URLEncoder and URLDecoder do.

>>> parts("http://me@host:80/p?a=1&b=2#f").ref, part("http://host/p?a=1&b=2", "QUERY", "b")
('f', '2')
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.quick import usual
from sqlwin.functions.core.types import STRING
from sqlwin.functions.core.usually import usually
from sqlwin.functions.core.vectors import Vector, by_value, only, valued, vector
from sqlwin.functions.regex.matching import matcher

_URI = re.compile(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*):)?"
    r"(?:(?P<opaque>(?<=:)[^/#][^#]*)"
    r"|(?://(?P<authority>[^/?#]*))?(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?)"
    r"(?:#(?P<ref>.*))?",
    re.DOTALL,
)
_PLAIN = r"A-Za-z0-9_\-!.~'()*,;:$&+=@"
_OTHER = r"\u00a0-\U0010ffff"
_ESCAPE = "%[0-9A-Fa-f]{2}"
_PATH = re.compile(rf"(?:[{_PLAIN}/{_OTHER}]|{_ESCAPE})*")
_QUERY = re.compile(rf"(?:[{_PLAIN}/?\[\]{_OTHER}]|{_ESCAPE})*")
_AUTHORITY = re.compile(rf"(?:[{_PLAIN}\[\]{_OTHER}]|{_ESCAPE})*")
_NO_LETTERS = re.compile(r"[\u0080-\u00a0\s\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
_SERVER = re.compile(
    r"(?:(?P<user>[^@]*)@)?"
    r"(?P<host>\[[0-9A-Fa-f:.]+(?:%[\w.~\-]+)?\]"
    r"|(?:\d{1,3}\.){3}\d{1,3}"
    r"|(?:[A-Za-z0-9](?:[A-Za-z0-9\-]*[A-Za-z0-9])?\.)*[A-Za-z](?:[A-Za-z0-9\-]*[A-Za-z0-9])?\.?)"
    r"(?::(?P<port>\d*))?"
)


class Parts(NamedTuple):
    """None: there is no such part."""

    scheme: str | None
    authority: str | None
    user: str | None
    host: str | None
    path: str | None
    query: str | None
    ref: str | None


def parts(url: str) -> Parts | None:
    """None where it is no URI of RFC 2396, with other letters where Java takes them."""
    found = _URI.fullmatch(url)
    if found is None or _NO_LETTERS.search(url):
        return None
    scheme, opaque, authority, path, query, ref = found.groups()
    if not _fits(opaque, authority, path, query, ref):
        return None
    if opaque is not None:
        return Parts(scheme, None, None, None, None, None, ref)
    if scheme is None and ":" in (path or "").split("/")[0]:
        return None
    if scheme is not None and authority is None and not path:
        return None
    if authority == "":
        if not path and query is None and ref is None:
            return None
        authority = None
    server = _SERVER.fullmatch(authority) if authority is not None else None
    user, host = (server["user"], server["host"]) if server else (None, None)
    return Parts(scheme, authority, user, host, path, query, ref)


def _fits(
    opaque: str | None, authority: str | None, path: str | None, query: str | None, ref: str | None
) -> bool:
    checked = ((opaque, _QUERY), (authority, _AUTHORITY), (path, _PATH), (query, _QUERY))
    found = (*checked, (ref, _QUERY))
    return all(text is None or letters.fullmatch(text) for text, letters in found)


def part(url: str, wanted: str, key: str | None = None) -> str | None:
    """ValueError where it is no URL."""
    if key is not None and wanted != "QUERY":
        return None
    found = parts(url)
    if found is None:
        raise ValueError(f"[INVALID_URL] The url is invalid: {url[:200]}. Use try_parse_url.")
    if key is not None:
        return _value(found.query, key)
    return _named(found, wanted)


def _named(found: Parts, wanted: str) -> str | None:
    if wanted == "FILE":
        return found.path if found.query is None else f"{found.path}?{found.query}"
    places = {"HOST": "host", "PATH": "path", "QUERY": "query", "REF": "ref"}
    places |= {"PROTOCOL": "scheme", "AUTHORITY": "authority", "USERINFO": "user"}
    return getattr(found, places[wanted]) if wanted in places else None


def _value(query: str | None, key: str) -> str | None:
    """Spark takes the key for a part of a regular expression."""
    found = matcher(f"(&|^){key}=([^&]*)").find(query or "")
    return str(found[2]) if found else None


_LABEL = "(?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_USUAL = {
    "PROTOCOL": r"[A-Za-z][A-Za-z0-9+.\-]*",
    "HOST": rf"(?:[A-Za-z0-9]{_LABEL}\.)*[A-Za-z]{_LABEL}\.?|(?:\d{{1,3}}\.){{3}}\d{{1,3}}",
    "PATH": rf"(?:/(?:[{_PLAIN}/]|{_ESCAPE})*)?",
    "QUERY": rf"(?:[{_PLAIN}/?]|{_ESCAPE})+",
    "REF": rf"(?:[{_PLAIN}/?]|{_ESCAPE})+",
}
"""Of most URLs that have a host, as RE2 has it: no user, no empty query, letters of ASCII."""


def usual_form(wanted: str = "") -> str:
    """A regular expression of RE2, with the wanted part for its group `it`.

    >>> re.match(usual_form("HOST"), "http://host:80/p?q#r")["it"], usual_form("PATH").count("it")
    ('host', 1)
    """
    part_of = {
        name: f"(?P<it>{form})" if name == wanted else f"(?:{form})"
        for name, form in _USUAL.items()
    }
    authority = rf"{part_of['HOST']}(?::\d*)?"
    file = rf"{part_of['PATH']}(?:\?{part_of['QUERY']})?"
    if wanted in ("AUTHORITY", "FILE"):
        authority, file = (
            f"(?P<it>{text})" if name == wanted else text
            for name, text in (("AUTHORITY", authority), ("FILE", file))
        )
    return rf"^{part_of['PROTOCOL']}://{authority}{file}(?:#{part_of['REF']})?$"


_HAS_USUAL_FORM = usual_form()
_KEY = re.compile("[A-Za-z0-9_]+")


def _parsed(one: Callable[..., str | None], *arrays: pa.Array) -> pa.Array:
    """By Arrow where a URL is of the usual form; of a constant part and key."""
    wanted, *key = map(only, arrays[1:])
    known = wanted in (*_USUAL, "AUTHORITY", "FILE") and (
        not key or (wanted == "QUERY" and isinstance(key[0], str) and _KEY.fullmatch(key[0]))
    )
    if not known:
        return by_value(one, *arrays, type=STRING)

    def exact(urls: pa.Array) -> pa.Array:
        return by_value(lambda url: one(url, wanted, *key), urls, type=STRING)

    def quick(urls: pa.Array) -> pa.Array:
        found = _extracted(urls, usual_form(wanted))
        if wanted in ("QUERY", "REF"):
            found = pc.if_else(pc.equal(found, ""), pa.scalar(None, STRING), found)
        return _extracted(found, f"(?:&|^){key[0]}=(?P<it>[^&]*)") if key else found

    urls = arrays[0]
    return usually(urls, pc.match_substring_regex(urls, _HAS_USUAL_FORM), quick, exact)


def _extracted(texts: pa.Array, pattern: str) -> pa.Array:
    return pc.struct_field(pc.extract_regex(texts, pattern), "it")


@vector("parseurl")
def _parse(*arrays: pa.Array) -> pa.Array:
    return _parsed(part, *arrays)


def _tried(url: str, wanted: str, key: str | None = None) -> str | None:
    return part(url, wanted, key) if parts(url) else None


@vector("tryparseurl")
def _try_parse(*arrays: pa.Array) -> pa.Array:
    return _parsed(_tried, *arrays)


def _decoded(text: str) -> str:
    """ValueError for a % that two digits of base 16 do not follow."""
    if re.search("%(?![0-9A-Fa-f]{2})", text):
        message = f"The provided URL cannot be decoded: {text[:200]}."
        raise ValueError(f"[CANNOT_DECODE_URL] {message}")
    return unquote_to_bytes(text.replace("+", " ")).decode("utf-8", "replace")


def _try_decoded(text: str) -> str | None:
    try:
        return _decoded(text)
    except ValueError:
        return None


_DECODED = "url_decode(replace({0}, '+', ' '))"
_ASCII_ESCAPES = "NOT regexp_matches({0}, '%([^0-7]|[0-7][^0-9A-Fa-f]|[0-7]?$)')"
"""What DuckDB decodes as Java does: it leaves what is none, and fails where it is not UTF-8."""
_SPACES = "replace(url_encode({0}), '%20', '+')"
_ENCODED = usual(
    "NOT contains({0}, '*') AND NOT contains({0}, '~')",
    _SPACES,
    f"replace(replace({_SPACES}, '%2A', '*'), '~', '%7E')",
)
"""Letters and digits of ASCII and `-_.` are themselves, for DuckDB `~`, too, and `*` not."""


def _decoding(exact: Vector) -> Callable[[Call], str]:
    named = exact.named([STRING], STRING)
    return lambda call: call.filled(usual(_ASCII_ESCAPES, _DECODED, f"{named}({{0}})"))


FUNCTIONS: tuple[Function, ...] = (
    function(
        "parse_url",
        of("(STRING, STRING, STRING?) -> STRING", _parse),
        doc="HOST, PATH, QUERY, REF, PROTOCOL, FILE, AUTHORITY or USERINFO of it; of QUERY a key.",
    ),
    function(
        "try_parse_url",
        of("(STRING, STRING, STRING?) -> STRING", _try_parse),
        doc="As PARSE_URL; NULL where it is no URL.",
    ),
    function(
        "url_encode",
        of("(STRING) -> STRING", _ENCODED),
        doc="For a form of HTML: + for a space, % and two digits for most of the rest.",
    ),
    function(
        "url_decode",
        of("(STRING) -> STRING", _decoding(valued("urldecode")(_decoded)), fails=True),
        doc="What URL_ENCODE has made of it.",
    ),
    function(
        "try_url_decode",
        of("(STRING) -> STRING", _decoding(valued("tryurldecode")(_try_decoded))),
        doc="What URL_ENCODE has made of it; NULL where it cannot be decoded.",
    ),
)
