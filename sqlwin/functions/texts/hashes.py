"""Hashes and checksums.

>>> _sha2(b"", 224)[:8], _sha2(b"", 1) is None
('d14a028c', True)
"""

from __future__ import annotations

import hashlib
import hmac
import zlib

import pyarrow as pa

from sqlwin.functions.core.entry import Call, Function, How, function, of
from sqlwin.functions.core.typed import Refused, Typed
from sqlwin.functions.core.types import STRING, is_list, is_map, is_struct, name
from sqlwin.functions.core.vectors import Vector, valued, vector
from sqlwin.functions.texts.murmur import MURMUR, SEED, hashed
from sqlwin.functions.texts.xxhash import XXHASH

_BITS = {0: "sha256", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}


def _sha2(data: bytes | str, bits: int) -> str | None:
    blob = data.encode() if isinstance(data, str) else data
    return hashlib.new(_BITS[bits], blob).hexdigest() if bits in _BITS else None


_sha2_vector = valued("sha2")(_sha2)


def _sha2_text(call: Call) -> str:
    """By DuckDB where it has the hash: of 256 bits."""
    bits = call.args[1]
    if isinstance(bits, Typed) and bits.value in (0, 256):
        return f"sha256({call.texts[0]})"
    return f"{_sha2_vector.named([call.type(0), call.type(1)], STRING)}({', '.join(call.texts)})"


@valued("crc32")
def _crc32(data: bytes | str) -> int:
    return zlib.crc32(data.encode() if isinstance(data, str) else data)


_MACS = {"MD5": "md5", "SHA-1": "sha1", "SHA-224": "sha224", "SHA-256": "sha256"}
_MACS |= {"SHA-384": "sha384", "SHA-512": "sha512"}


@valued("hmac")
def _hmac(key: bytes | str, data: bytes | str, algorithm: str) -> bytes:
    digest = _MACS.get(algorithm.upper())
    if digest is None or not key:
        reason = f"The HMAC cannot be made: {'an empty key' if digest else algorithm[:100]}."
        raise ValueError(f"[INVALID_PARAMETER_VALUE.HMAC_CRYPTO_ERROR] {reason}")
    key, data = (each.encode() if isinstance(each, str) else each for each in (key, data))
    return hmac.digest(key, data, digest)


def _hmac_text(call: Call) -> str:
    types = [call.type(0), call.type(1), STRING]
    algorithm = call.texts[2] if len(call.args) == 3 else "'SHA-256'"
    return f"{_hmac.named(types, call.result)}({call.texts[0]}, {call.texts[1]}, {algorithm})"


@vector("hash")
def _hash(*arrays: pa.Array) -> pa.Array:
    return pa.array(hashed(MURMUR, arrays))


@vector("xxhash64")
def _xxhash64(*arrays: pa.Array) -> pa.Array:
    return pa.array(hashed(XXHASH, arrays))


def _of_all(vector_: Vector) -> How:
    """None at all is the seed. Maps have no order, and thus no hash."""

    def how(call: Call) -> str:
        types = [call.type(at) for at in range(len(call.args))]
        for at, type_ in enumerate(types):
            if _holds_map(type_):
                raise Refused(f"a {name(type_).upper()} has no hash", at=at)
        if not types:
            return f"CAST({SEED} AS {call.engine_type})"
        return f"{vector_.named(types, call.result)}({', '.join(call.texts)})"

    return how


def _holds_map(type_: pa.DataType) -> bool:
    if is_list(type_):
        return _holds_map(type_.value_type)
    if is_struct(type_):
        return any(_holds_map(field.type) for field in type_)
    return is_map(type_)


FUNCTIONS: tuple[Function, ...] = (
    function("md5", of("(S) -> STRING", "md5({0})"), doc="MD5, in base 16."),
    function("sha sha1", of("(S) -> STRING", "sha1({0})"), doc="SHA-1, in base 16."),
    function(
        "sha2",
        of("(S, INT) -> STRING", _sha2_text),
        doc="SHA-2 of 224, 256, 384 or 512 bits, in base 16; 0 is as 256.",
    ),
    function(
        "hmac",
        of("(S, S1, STRING?) -> BINARY", _hmac_text, fails=True),
        doc="The code that a key gives a message: of SHA-256, or of the hash that is named.",
    ),
    function("crc32", of("(S) -> BIGINT", _crc32), doc="The cyclic redundancy check."),
    function(
        "hash",
        of("(ANY...) -> INT", _of_all(_hash)),
        doc="Of all arguments together: Murmur3 of 32 bits.",
    ),
    function(
        "xxhash64",
        of("(ANY...) -> BIGINT", _of_all(_xxhash64)),
        doc="Of all arguments together: xxHash of 64 bits.",
    ),
)
