"""A checkpoint of each version of the state: a run that has stopped with windows open.

    tests/state/fixtures/checkpoint_v5/
        q.sql            tumbling minutes, sessions and an OVER frame
        orders/1.jsonl   what was read before the checkpoint was made, a malformed row in it
        state/           the checkpoint
    tests/state/fixtures/checkpoint_v5_spark/
                         the same, by a run on Spark

When `task_state.VERSION` rises, or `spark.program.VERSION`, run
`tools/with-java .venv/bin/python -m tests.support.state.checkpoint_fixtures` once, and commit what
it writes. One that is there is never written again: it is what people have.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import sqlwin
from sqlwin.runtime.checkpoint.versions import VERSION
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.sql import script

FOLDER = Path(__file__).parents[2] / "state" / "fixtures"
TEXT = """
CREATE STREAM orders (product STRING, value BIGINT, ts TIMESTAMP,
                      WATERMARK FOR ts AS ts - INTERVAL '10' SECOND)
WITH (connector = 'files', path = 'orders/*.jsonl');
CREATE SINK minutes WITH (connector = 'python');
CREATE SINK visits WITH (connector = 'python');
CREATE SINK running WITH (connector = 'python');
INSERT INTO minutes
SELECT product, window_start, SUM(value) AS total, MEDIAN(value) AS middle
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY product, window_start, window_end
EMIT LATE ON UPDATE RETAIN INTERVAL '1' HOUR;
INSERT INTO visits
SELECT product, window_start, window_end, COUNT(*) AS n
FROM SESSION(TABLE orders PARTITION BY product, DESCRIPTOR(ts), INTERVAL '30' SECOND)
GROUP BY product, window_start, window_end
EMIT LATE ON UPDATE RETAIN INTERVAL '1' HOUR;
INSERT INTO running
SELECT product, ts, SUM(value) OVER (
  PARTITION BY product ORDER BY ts RANGE INTERVAL '1' MINUTE PRECEDING) AS total
FROM orders EMIT LATE ON UPDATE RETAIN INTERVAL '1' HOUR;
"""
SINKS = ("minutes", "visits", "running")
BEFORE = [("tea", 1, "09:00:10"), ("milk", 2, "09:00:20"), ("tea", 4, "09:01:05")]
AFTER = [("tea", 8, "09:00:30"), ("milk", 16, "09:00:55"), ("tea", 32, "09:05:00")]


def land(home: Path, name: str, rows: list[tuple[str, int, str]], *more: str) -> None:
    (home / "orders").mkdir(parents=True, exist_ok=True)
    named = [{"product": p, "value": v, "ts": f"2024-01-01T{ts}Z"} for p, v, ts in rows]
    lines = [json.dumps(row) for row in named]
    text = "".join(f"{line}\n" for line in [*lines, *more])
    (home / "orders" / f"{name}.jsonl").write_text(text)


def run_on_spark(text: str, home: Path, drain: bool = False, **functions: Any) -> int:
    """As `sqlwin.run` over the checkpoint `state`; how many rows were read."""
    from sqlwin.spark.run import run

    options = RunOptions(
        home, home / "state", drain, on_warning=lambda _: None, functions=functions
    )
    return run(script(text), options).read


def main() -> None:
    name = f"checkpoint_v{VERSION}"
    for home in (FOLDER / name, FOLDER / f"{name}_spark"):
        if home.exists():
            sys.stdout.write(f"{home} is there: a fixture is written once\n")
            continue
        land(home, "1", BEFORE, "{")
        (home / "q.sql").write_text(TEXT)
        sinks = dict.fromkeys(SINKS, lambda rows, batch: None)
        if home.name == name:
            sqlwin.run(TEXT, home, home / "state", sinks=sinks, on_warning=lambda _: None)
            (home / "state" / "lock").unlink()
        else:
            run_on_spark(f"SET buckets = 2;{TEXT}", home, **sinks)
            (home / "state" / "sqlwin" / "lock").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
