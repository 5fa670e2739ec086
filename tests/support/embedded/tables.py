"""Sales and a static table of products, as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TABLE = "CREATE TABLE products (product STRING, maker STRING){files};"


SALES = (
    "CREATE STREAM sales (product STRING, n BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts){files};"
)


QUERY = "SELECT n, maker FROM sales LEFT JOIN products ON sales.product = products.product"


WITH = " WITH (connector = 'files', path = '{}/*.jsonl')"


SCRIPT = "\n".join(
    [TABLE.format(files=WITH.format("products")), SALES.format(files=WITH.format("sales")), QUERY]
)


NINE = "2024-01-01T09:00:00Z"


def land(home: Path, stream: str, name: str, *rows: dict[str, Any]) -> None:
    (home / stream).mkdir(exist_ok=True)
    (home / stream / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def sale(product: str, n: int) -> dict[str, Any]:
    return {"product": product, "n": n, "ts": NINE}


def product(name: str, maker: str) -> dict[str, Any]:
    return {"product": name, "maker": maker}
