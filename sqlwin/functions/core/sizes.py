"""Arrays whose elements a lambda makes: what they are together is bounded, as one value is.

>>> held("list_transform(a, lambda x: x + 1)", pa.int32())
'list_transform(a, lambda x: x + 1)'
>>> size("s", pa.string()), size("a", pa.list_(pa.int32()))
('strlen(s)', 'len(a) * 4')
"""

from __future__ import annotations

import pyarrow as pa

from sqlwin.functions.core.limits import BYTES
from sqlwin.functions.core.types import BINARY, STRING, computed_as, is_list, is_map, is_struct

_MESSAGE = f"an expression makes an array of more than {BYTES} bytes"


def held(text: str, item: pa.DataType) -> str:
    """An array, or an error of its row where its elements are too much together.

    Elements of a fixed size are no more than those of the array that they are made of.
    """
    if _width(item) is not None:
        return text
    check = f"{size('__r', pa.list_(item))} > {BYTES} THEN error('{_MESSAGE}')"
    return f"list_apply([{text}], lambda __r: CASE WHEN {check} ELSE __r END)[1]"


def size(text: str, type_: pa.DataType, depth: int = 0) -> str:
    """Bytes of a value, about, as text; NULL for a NULL."""
    width = _width(type_)
    if width is not None:
        return str(width)
    if type_ in (STRING, BINARY):
        return f"strlen({text})" if type_ == STRING else f"octet_length({text})"
    if is_list(type_):
        return _of_elements(text, type_.value_type, depth)
    if is_map(type_):
        entry = pa.struct([("key", type_.key_type), ("value", type_.item_type)])
        return _of_elements(f"map_entries({text})", entry, depth)
    fields = (
        f"coalesce({size(_field(text, field.name), field.type, depth)}, 0)" for field in type_
    )
    return f"({' + '.join(fields)})"


def _field(text: str, name: str) -> str:
    quoted = name.replace("'", "''")
    return f"struct_extract({text}, '{quoted}')"


def _of_elements(text: str, item: pa.DataType, depth: int) -> str:
    width = _width(item)
    if width is not None:
        return f"len({text}) * {width}"
    own = f"__s{depth}"
    return f"list_sum(list_transform({text}, lambda {own}: {size(own, item, depth + 1)}))"


def _width(type_: pa.DataType) -> int | None:
    """Bytes of a value whose type has a fixed size."""
    if is_struct(type_):
        widths = [_width(field.type) for field in type_]
        known = [width for width in widths if width is not None]
        return sum(known) if len(known) == len(widths) else None
    if type_ in (STRING, BINARY) or is_list(type_) or is_map(type_):
        return None
    return max(1, int(computed_as(type_).bit_width) // 8)
