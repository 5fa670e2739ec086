"""URLs: taken apart, encoded and decoded, as Java's URI, URLEncoder and URLDecoder do.

>>> parts("http://me@host:80/p?a=1&b=2#f").ref, part("http://host/p?a=1&b=2", "QUERY", "b")
('f', '2')
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes

import pyarrow as pa

from sqlwin.functions.core.entry import Function, function, of
from sqlwin.functions.core.types import STRING
from sqlwin.functions.core.vectors import by_value, valued, vector
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


@vector("parseurl")
def _parse(*arrays: pa.Array) -> pa.Array:
    return by_value(part, *arrays, type=STRING)


def _tried(url: str, wanted: str, key: str | None = None) -> str | None:
    return part(url, wanted, key) if parts(url) else None


@vector("tryparseurl")
def _try_parse(*arrays: pa.Array) -> pa.Array:
    return by_value(_tried, *arrays, type=STRING)


def _encoded(text: str) -> str:
    return quote(text, safe="*-_. ").replace("~", "%7E").replace(" ", "+")


def _decoded(text: str) -> str:
    """ValueError for a % that two digits of base 16 do not follow."""
    if re.search("%(?![0-9A-Fa-f]{2})", text):
        told = f"The provided URL cannot be decoded: {text[:200]}."
        raise ValueError(f"[CANNOT_DECODE_URL] {told}")
    return unquote_to_bytes(text.replace("+", " ")).decode("utf-8", "replace")


def _try_decoded(text: str) -> str | None:
    try:
        return _decoded(text)
    except ValueError:
        return None


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
        of("(STRING) -> STRING", valued("urlencode")(_encoded)),
        doc="For a form of HTML: + for a space, % and two digits for most of the rest.",
    ),
    function(
        "url_decode",
        of("(STRING) -> STRING", valued("urldecode")(_decoded)),
        doc="What URL_ENCODE has made of it.",
    ),
    function(
        "try_url_decode",
        of("(STRING) -> STRING", valued("tryurldecode")(_try_decoded)),
        doc="What URL_ENCODE has made of it; NULL where it cannot be decoded.",
    ),
)
