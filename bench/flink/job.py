"""The process of one setup of Flink over one query: `python -m bench.flink.job '{"query": …}'`.

All runs are in one JVM, so the later ones are warm. Each that is through is a line on stdout,
`{"rows": 1, "seconds": 1.0}`; one that takes longer than the limit is the last, `seconds` null.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.flink.cluster import Cluster, TooLong, cluster
from bench.flink.install import jars
from bench.flink.queries import QUERIES
from bench.flink.tables import SETUPS, checkpoints, insert, settings, sink, sources
from bench.queries import STREAMS, Query

LOG = "flink.log"


@dataclass(frozen=True)
class JobSpec:
    """runs: for each the folders of its streams and how many rows they have.

    limit: seconds of each. checkpoint: seconds between two, 0 for none at all.
    """

    query: str
    setup: str
    runs: list[tuple[list[str], int]]
    cores: int = 2
    limit: float = 300.0
    results: str = ""
    checkpoint: float = 0.0


def run(spec: JobSpec, folder: Path) -> Iterator[dict[str, float | int | None]]:
    """folder: for its log and checkpoints."""
    query = QUERIES[spec.query]
    kept = checkpoints(spec.checkpoint, folder / "checkpoints")
    told = {**settings(SETUPS[spec.setup], spec.cores), **kept}
    with cluster(jars(), told, folder / LOG) as flink:
        flink.tell(sink(query, Path(spec.results) if spec.results else None))
        for folders, rows in spec.runs:
            seconds = _seconds(flink, query, [Path(folder) for folder in folders], spec.limit)
            yield {"rows": rows, "seconds": seconds}
            if seconds is None:
                return


def _seconds(flink: Cluster, query: Query, folders: list[Path], limit: float) -> float | None:
    for name in STREAMS:
        flink.tell(f"DROP TABLE IF EXISTS {name}")
    for source in sources(folders):
        flink.tell(source)
    try:
        return flink.job(insert(query), limit)
    except TooLong:
        return None


def main(text: str) -> None:
    with tempfile.TemporaryDirectory(prefix="bench-flink-") as folder:
        log = Path(folder) / LOG
        try:
            for line in run(JobSpec(**json.loads(text)), Path(folder)):
                print(json.dumps(line), flush=True)
        except Exception:
            if log.exists():
                print(log.read_text(encoding="utf-8")[-2_000:], file=sys.stderr)
            raise


if __name__ == "__main__":
    main(sys.argv[1])
    sys.stdout.flush()
    os._exit(0)  # threads of py4j wait for a JVM that may be in a job that takes too long
