"""A process in automatic use, for `test_automatic_killed` to kill: python automatic.py HOME.

It reads HOME/rows.json from where its store tells, and its callback appends what it is
sent to HOME/outputs.jsonl, each line on disk before it counts as taken; one in five
it refuses. A line `began` tells of a new process, and a line `flushed` follows each
call that has ended, and so has written what was sent since.
"""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from typing import Any

import sqlwin

SQL = """
CREATE STREAM orders (
  id BIGINT, k STRING, v BIGINT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '20' SECOND, OFFSET id
);
SELECT k, window_start, MEDIAN(v) AS middle, COUNT(*) AS n
FROM HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE)
GROUP BY k, window_start, window_end
EMIT LATE ON UPDATE RETAIN INTERVAL '1' DAY
"""
BATCH = 7


class Taker:
    def __init__(self, file: Path) -> None:
        self.file = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def __call__(self, output: dict[str, Any]) -> bool:
        if random.random() < 0.2:
            return False
        self.write(output)
        return True

    def write(self, line: object) -> None:
        os.write(self.file, json.dumps(line, default=str).encode() + b"\n")
        os.fsync(self.file)


def main(home: Path) -> None:
    rows = json.loads((home / "rows.json").read_text())
    query, taker = sqlwin.query(SQL, store=home / "state"), Taker(home / "outputs.jsonl")
    taker.write("began")
    query.on_output(taker)
    first = query.offsets()["orders"].get(0, 0)
    left = [row for row in rows if row["id"] >= first]
    for at in [*range(0, len(left), BATCH), None]:
        while True:
            try:
                query.drain() if at is None else query.push("orders", left[at : at + BATCH])
                break
            except sqlwin.InputDisabled:
                query.timeout(0)
                taker.write("flushed")
        taker.write("flushed")
    while query.results(clear=False).num_rows:
        query.timeout(0)
    query.commit()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
