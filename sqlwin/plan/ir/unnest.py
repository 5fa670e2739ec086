"""UNNEST: rows of the elements of an array, or of the entries of a map."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.once import hashed_once
from sqlwin.schema import Column, Schema

if TYPE_CHECKING:
    from sqlwin.plan.ir.nodes import Node


@hashed_once
@dataclass(frozen=True)
class Unnest:
    """Each row once for each element of an array, or entry of a map. It keeps no state.

    column: of the input, the array or map. names: the columns of an element: the element itself;
    where it `expands`, each field of a struct, or the key and the value of an entry. ordinal: the
    column (INT) that numbers the elements of a row, from `first` on; None: there is none. outer: a
    row whose array is empty or NULL stays once, its elements NULL. A row is known by the one it
    comes from and the number of its element. Output: all input columns but `column`, then
    `names`, then `ordinal`.
    """

    input: Node
    column: str
    names: tuple[str, ...]
    expands: bool = False
    ordinal: str | None = None
    first: int = 1
    outer: bool = False

    @cached_property
    def schema(self) -> Schema:
        kept = (each for each in self.input.schema if each.name != self.column)
        ordinal = () if self.ordinal is None else (Column(self.ordinal, pa.int32()),)
        return (*kept, *map(Column, self.names, self._types), *ordinal)

    @property
    def _types(self) -> tuple[pa.DataType, ...]:
        whole = next(each.type for each in self.input.schema if each.name == self.column)
        element = element_type(whole)
        assert element is not None
        return tuple(field.type for field in element) if self.expands else (element,)


def element_type(type_: pa.DataType) -> pa.DataType | None:
    """Of an array or a map, whose entries are structs; None of anything else.

    >>> str(element_type(pa.map_(pa.string(), pa.int32())))
    'struct<key: string, value: int32>'
    >>> element_type(pa.list_(pa.int64())), element_type(pa.int64())
    (DataType(int64), None)
    """
    if pa.types.is_map(type_):
        return pa.struct([("key", type_.key_type), ("value", type_.item_type)])
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return type_.value_type
    return None
