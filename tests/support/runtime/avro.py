"""Records in Avro, as a producer without a registry writes them."""

from __future__ import annotations

import io
from typing import Any

import fastavro


def bare(schema: Any, record: dict[str, Any]) -> bytes:
    """Without a header."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), record)
    return out.getvalue()
