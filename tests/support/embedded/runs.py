"""One query over files of orders, and a file with an order."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

SCRIPT = """
CREATE STREAM orders (value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector = 'files', path = 'orders/*.jsonl', format = 'json');
SELECT window_start, SUM(value) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY window_start
EMIT LATE EVERY INTERVAL '1' SECOND RETAIN INTERVAL '1' HOUR;
"""


def land(home: Path, name: str, ts: str, value: int) -> None:
    (home / "orders").mkdir(exist_ok=True)
    row = json.dumps({"value": value, "ts": f"2024-01-01T{ts}Z"})
    (home / "orders" / f"{name}.jsonl").write_text(row + "\n")


def interrupt(_: object) -> None:
    """As `show`: a Ctrl-C when results are shown."""
    raise KeyboardInterrupt


def sleeping(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, sleep: Callable[[float], None]
) -> None:
    """How a module sleeps, and no thread of another, such as py4j's, which has a finalizer."""
    monkeypatch.setattr(module, "time", SimpleNamespace(**{**vars(time), "sleep": sleep}))
