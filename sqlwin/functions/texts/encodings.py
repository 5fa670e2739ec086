"""Functions between STRING and BINARY: base 64, base 16, character sets.

>>> _from_base64("YWI"), _from_hex("abc")
(b'ab', b'\\n\\xbc')
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.entry import Call, Function, How, function, of
from sqlwin.functions.core.typed import Refused, Typed
from sqlwin.functions.core.types import BIGINT, BINARY, STRING
from sqlwin.functions.core.vectors import Vector, valued

_CHARSETS = {
    "US-ASCII": "ascii",
    "ISO-8859-1": "latin-1",
    "UTF-8": "utf-8",
    "UTF-16BE": "utf-16-be",
    "UTF-16LE": "utf-16-le",
    "UTF-16": "utf-16",
    "UTF-32": "utf-32",
}
"""Spark's names, whatever their case, and Python's."""
_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_NO_BASE64 = re.compile(r"[^A-Za-z0-9+/=]")


def _charset(name: str) -> str:
    found = _CHARSETS.get(name.upper())
    if found is None:
        raise ValueError(
            "[INVALID_PARAMETER_VALUE.CHARSET] The value of parameter charset is invalid: "
            f"expects one of {', '.join(_CHARSETS)}, but got {name}."
        )
    return found


def _malformed(function: str, name: str) -> ValueError:
    message = f"The characters of {function} cannot be written or read in {name}."
    return ValueError(f"[MALFORMED_CHARACTER_CODING] {message}")


def _encoded(text: str, name: str) -> bytes:
    """UTF-16 begins with its mark, UTF-32 has none; of both the high byte is first."""
    charset = _charset(name)
    if not text:
        return b""
    try:
        if charset == "utf-16":
            return b"\xfe\xff" + text.encode("utf-16-be")
        return text.encode("utf-32-be" if charset == "utf-32" else charset)
    except UnicodeEncodeError:
        raise _malformed("encode", name) from None


def _decoded(blob: bytes, name: str) -> str:
    charset = _charset(name)
    marks = {"utf-16": (b"\xff\xfe", b"\xfe\xff"), "utf-32": (b"\xff\xfe\0\0", b"\0\0\xfe\xff")}
    if charset in marks and not blob.startswith(marks[charset]):
        charset += "-be"
    try:
        return blob.decode(charset)
    except UnicodeDecodeError:
        raise _malformed("decode", name) from None


def _from_base64(text: str) -> bytes:
    """As Java's decoder for MIME: what is no letter of base 64 is passed over."""
    letters = _NO_BASE64.sub("", text)
    data, end, rest = letters.partition("=")
    many = len(data) % 4
    # two letters need two signs at the end, three need one, or none at all
    wrong = many == 1 or (end and (many == 0 or (many == 2 and not rest.startswith("="))))
    if wrong or rest.strip("=") or len(rest) > (many == 2):
        raise ValueError("Input byte array has wrong 4-byte ending unit.")
    return base64.b64decode(data + "=" * (-many % 4))


@valued("tobase32")
def _to_base32(data: bytes | str) -> str:
    return base64.b32encode(data.encode() if isinstance(data, str) else data).decode()


def _from_base32(text: str) -> bytes:
    """What is no letter of base 32 is passed over; bits that are left are no byte, but those of
    one letter behind whole groups of 8, of which two are dropped."""
    bits, count, letters, made = 0, 0, 0, bytearray()
    for letter in text:
        place = _BASE32.find(letter.upper() if letter.isascii() else "?")
        if letter == "=":
            break
        if place >= 0:
            bits, count, letters = (bits << 5 | place) & 0xFFFF, count + 5, letters + 1
        if count >= 8:
            count -= 8
            made.append(bits >> count & 255)
    if letters % 8 == 1:
        made.append(bits >> 2 & 255)
    return bytes(made)


def _from_hex(text: str) -> bytes | None:
    """Half a byte at the start is a byte."""
    if not text.isascii() or not re.fullmatch(r"[0-9A-Fa-f]*", text):
        return None
    return binascii.unhexlify("0" * (len(text) % 2) + text)


def _of_hex(text: str) -> bytes | None:
    return _from_hex(text)


def _of_base64(text: str) -> bytes | None:
    """For TO_BINARY: letters and spaces only, and signs at the end where there have to be, with
    no space behind them."""
    letters = text.rstrip("=")
    ends = len(text) - len(letters)
    data = re.sub(r"[ \t\n\r\f\v]", "", letters)
    plain = data.isascii() and re.fullmatch(r"[A-Za-z0-9+/]*", data)
    if not plain or len(data) % 4 == 1 or (ends and (ends > 2 or (len(data) + ends) % 4)):
        return None
    return base64.b64decode(data + "=" * (-len(data) % 4))


def _of_utf8(text: str) -> bytes:
    return text.encode()


def _strict(format_: str, read: Callable[[str], bytes | None]) -> Callable[[str], bytes]:
    def strict(text: str) -> bytes:
        made = read(text)
        if made is None:
            message = f"The value {text[:64]!r} (STRING) cannot be converted to BINARY"
            raise ValueError(f"[CONVERSION_INVALID_INPUT] {message}: it is no {format_}.")
        return made

    return strict


_FORMATS: dict[str, Callable[[str], bytes | None]] = {
    "hex": _of_hex,
    "base64": _of_base64,
    "utf8": _of_utf8,
}
_STRICT: dict[str, Vector] = {
    name: valued(f"tobinary{name}")(_strict(name, read)) for name, read in _FORMATS.items()
}
_LENIENT: dict[str, Vector] = {
    name: valued(f"trytobinary{name}")(read) for name, read in _FORMATS.items()
}


def _to_binary(vectors: dict[str, Vector], lenient: bool = False) -> How:
    def how(call: Call) -> str:
        given = call.args[1] if len(call.args) == 2 else None
        written = given.value if isinstance(given, Typed) else "hex"
        if written is None:
            return "CAST(NULL AS BLOB)"
        found = vectors.get(written.lower().replace("utf-8", "utf8"))
        if found is None and lenient:
            return "CAST(NULL AS BLOB)"
        if found is None:
            raise Refused(f"there is no format {written}", "hex, base64, utf-8", at=1)
        return f"{found.named([STRING], BINARY)}({call.texts[0]})"

    return how


def _base64(call: Call) -> str:
    return f"base64({call.texts[0] if call.type(0) == BINARY else f'encode({call.texts[0]})'})"


def _hex(call: Call) -> str:
    """Of what is no BIGINT, as one."""
    (number,) = call.args
    assert isinstance(number, Typed)
    return f"hex({cast(number, BIGINT, implicitly=True).sql})"


_encode = valued("encode")(_encoded)
_decode = valued("decode")(_decoded)
FUNCTIONS: tuple[Function, ...] = (
    function("base64", of("(S) -> STRING", _base64), doc="BINARY in base 64."),
    function(
        "unbase64",
        of("(STRING) -> BINARY", valued("unbase64")(_from_base64)),
        doc="BINARY from base 64.",
    ),
    function("to_base32", of("(S) -> STRING", _to_base32), doc="BINARY in base 32."),
    function(
        "from_base32",
        of("(STRING) -> BINARY", valued("frombase32")(_from_base32)),
        doc="BINARY from base 32.",
    ),
    function(
        "hex",
        of("(BIGINT) -> STRING", "hex({0})"),
        of("(BINARY) -> STRING", "hex({0})"),
        of("(STRING) -> STRING", "hex({0})"),
        of("(N) -> STRING", _hex, fails=True),
        doc="A number, or bytes, in base 16.",
    ),
    function(
        "unhex",
        of("(STRING) -> BINARY", valued("unhex")(_from_hex)),
        doc="BINARY from base 16; NULL where it is not.",
    ),
    function(
        "encode",
        of("(STRING, STRING) -> BINARY", _encode),
        doc="The text in a character set: UTF-8, UTF-16, ISO-8859-1 and others.",
    ),
    function(
        "to_binary",
        of("(STRING, STRING!?) -> BINARY", _to_binary(_STRICT), fails=True),
        doc="BINARY from a text in hex, base64 or utf-8.",
    ),
    function(
        "try_to_binary",
        of("(STRING, STRING!?) -> BINARY", _to_binary(_LENIENT, lenient=True)),
        doc="BINARY from a text in hex, base64 or utf-8; NULL where it is not.",
    ),
)
MORE = {"decode": (of("(BINARY, STRING) -> STRING", _decode),)}
"""DECODE of two arguments; of more it is one of `conditions`."""
