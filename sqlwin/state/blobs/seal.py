"""Bytes that say whether they are as they were written: a checksum in front.

    magic "SQLS", version 1 (u16), zeros (u16), BLAKE2b of name and data (16 bytes), data

The checksum has the name in it, so bytes that come to lie under another name are damaged,
too. What is not sealed is of before there were seals, and taken as it is: its readers refuse
what they cannot parse, and nothing sealed parses as anything else.

>>> sealed("header", b"{}")[:8], unsealed("header", sealed("header", b"{}"))
(b'SQLS\\x01\\x00\\x00\\x00', b'{}')
>>> unsealed("header", b"{}")
b'{}'
>>> unsealed("header", sealed("header", b"{}")[:-1])
Traceback (most recent call last):
sqlwin.errors.StateError: header is damaged: its checksum does not match its bytes
"""

from __future__ import annotations

import struct
from hashlib import blake2b

from sqlwin.errors import StateError

MAGIC = b"SQLS"
VERSION = 1
_HEAD = struct.Struct("<4sHH")
_SUM = 16
LENGTH = _HEAD.size + _SUM


def checksum(name: str, data: bytes, length: int = _SUM) -> bytes:
    known = name.encode()
    digest = blake2b(len(known).to_bytes(4, "little") + known, digest_size=length)
    digest.update(data)
    return digest.digest()


def sealed(name: str, data: bytes) -> bytes:
    return b"".join((_HEAD.pack(MAGIC, VERSION, 0), checksum(name, data), data))


def unsealed(name: str, data: bytes) -> bytes:
    """StateError where it is not what was sealed under the name."""
    if data[:4] != MAGIC:
        return data
    inner = data[LENGTH:]
    if data[:LENGTH] != _HEAD.pack(MAGIC, VERSION, 0) + checksum(name, inner):
        raise StateError(f"{name} is damaged: its checksum does not match its bytes")
    return inner
