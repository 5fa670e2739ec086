"""GET_JSON_OBJECT: what a path leads to in a text of JSON, as Spark (and Hive) has it.

A path is `$`, then `.name`, `['name']`, `[3]`, `[*]` and `.*` in any order. One match is given as
it is, a string without its quotes; of several an array. All else is NULL: a path that is none, a
text that is none up to the match, nothing found, and a null.

>>> found('{"a": [{"b": 1}, {"b": "x"}]}', "$.a[*].b"), found('{"a": "x"}', "$.a")
('[1,"x"]', 'x')
"""

from __future__ import annotations

import re
from functools import lru_cache

import pyarrow as pa

from sqlwin.functions.core.vectors import by_value, vector
from sqlwin.functions.json.tokens import NAME, STRING, Malformed, Tokens
from sqlwin.functions.json.write import Out

Step = str | int
"""KEY, ITEM, ALL, an index, or the name of a field with a dot before it."""
KEY, ITEM, ALL = "key", "item", "all"
_RAW, _QUOTED, _FLAT = "raw", "quoted", "flat"
_STEP = re.compile(
    r"""\s*(?P<all>\.\*|\['\*'\]) | \.\s*(?P<name>[^.\[]+) | \s*\['\s*(?P<quoted>[^']+)\s*'\]
        | \[(?:(?P<any>\*)|\s*(?P<index>\d+))\]""",
    re.VERBOSE,
)


@lru_cache(maxsize=1024)
def steps(path: str) -> tuple[Step, ...] | None:
    """None where it is no path.

    >>> steps("$.a[*]['b'][2]")
    ('key', '.a', 'item', 'all', 'key', '.b', 'item', 2)
    """
    if not path.startswith("$"):
        return None
    made, at = list[Step](), 1
    while path[at:].strip():
        found = _STEP.match(path, at)
        if found is None:
            return None
        made += _step(found)
        at = found.end()
    return tuple(made)


def _step(found: re.Match[str]) -> list[Step]:
    if found["all"]:
        return [ALL]
    if found["any"]:
        return [ITEM, ALL]
    if found["index"]:
        return [ITEM, int(found["index"])]
    return [KEY, "." + (found["name"] or found["quoted"])]


def found(text: str, path: str) -> str | None:
    way = steps(path)
    if way is None:
        return None
    tokens, out = Tokens(text), Out(pairs=True)
    try:
        if tokens.next() is None:
            return None
        return out.text if _follow(tokens, out, _RAW, way) else None
    except Malformed:
        return None


def _follow(tokens: Tokens, out: Out, style: str, way: tuple[Step, ...]) -> bool:
    """Whether something was written. Spark's evaluatePath, case by case."""
    token = tokens.token
    if not way:
        return _all(tokens, out, style)
    if token == "{" and way[0] == KEY:
        return _object(tokens, out, style, way[1:])
    if token == "[" and way[0] == ITEM:
        return _array(tokens, out, style, way)
    if token == NAME and way[0] == f".{tokens.name}":
        return tokens.next() != "null" and _follow(tokens, out, style, way[1:])
    if token == NAME and way[0] == ALL:
        tokens.next()
        return _follow(tokens, out, style, way[1:])
    tokens.skip()
    return False


def _all(tokens: Tokens, out: Out, style: str) -> bool:
    if tokens.token == STRING and style == _RAW:
        out.raw(tokens.text)
        return True
    if tokens.token == "[" and style == _FLAT:
        return _each(tokens, out, style, ()) > 0
    out.copy(tokens)
    return True


def _each(tokens: Tokens, out: Out, style: str, way: tuple[Step, ...]) -> int:
    """Of how many elements something was written."""
    count = 0
    while _inside(tokens, "]"):
        count += _follow(tokens, out, style, way)
    return count


def _inside(tokens: Tokens, end: str) -> bool:
    """Moves on; whether it is not the end yet."""
    token = tokens.next()
    if token is None:
        raise Malformed("no JSON")
    return token != end


def _object(tokens: Tokens, out: Out, style: str, way: tuple[Step, ...]) -> bool:
    done = False
    while _inside(tokens, "}"):
        if done:
            tokens.skip()
        else:
            done = _follow(tokens, out, style, way)
    return done


def _array(tokens: Tokens, out: Out, style: str, way: tuple[Step, ...]) -> bool:
    at, rest = way[1], way[2:]
    if isinstance(at, int):
        quoted = rest[:2] == (ITEM, ALL)
        return _indexed(tokens, out, _QUOTED if quoted else style, rest, at)
    if rest[:2] == (ITEM, ALL):
        return _listed(tokens, out, _FLAT, rest[2:])
    if style == _QUOTED:
        return _listed(tokens, out, _QUOTED, rest)
    inner = Out()
    inner.begin("[")
    count = _each(tokens, inner, _FLAT if style == _FLAT else _QUOTED, rest)
    inner.end("]")
    if count:
        out.value(inner.text if count > 1 else inner.text[1:-1])
    return count > 0


def _listed(tokens: Tokens, out: Out, style: str, way: tuple[Step, ...]) -> bool:
    out.begin("[")
    count = _each(tokens, out, style, way)
    out.end("]")
    return count > 0


def _indexed(tokens: Tokens, out: Out, style: str, way: tuple[Step, ...], at: int) -> bool:
    while _inside(tokens, "]"):
        if at == 0:
            done = _follow(tokens, out, style, way)
            while _inside(tokens, "]"):
                tokens.skip()
            return done
        tokens.skip()
        at -= 1
    return False


@vector("getjsonobject")
def GET(texts: pa.Array, paths: pa.Array) -> pa.Array:  # noqa: N802
    return by_value(found, texts, paths, type=pa.string())


def _length(text: str) -> int | None:
    tokens = Tokens(text)
    try:
        if tokens.next() != "[":
            return None
        count = 0
        while _inside(tokens, "]"):
            tokens.skip()
            count += 1
        return count
    except Malformed:
        return None


def _keys(text: str) -> list[str] | None:
    tokens, keys = Tokens(text), list[str]()
    try:
        if tokens.next() != "{":
            return None
        while _inside(tokens, "}"):
            keys.append(tokens.text)
            tokens.next()
            tokens.skip()
        return keys
    except Malformed:
        return None


@vector("jsonarraylength")
def LENGTH(texts: pa.Array) -> pa.Array:  # noqa: N802
    return by_value(_length, texts, type=pa.int32())


@vector("jsonobjectkeys")
def KEYS(texts: pa.Array) -> pa.Array:  # noqa: N802
    return by_value(_keys, texts, type=pa.list_(pa.string()))
