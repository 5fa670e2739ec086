"""The process of one run on Spark, as `bench.once`, of the queries that Flink also answers."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from bench.flink.queries import QUERIES
from bench.run import answer, spec

if __name__ == "__main__":
    print(json.dumps(asdict(answer(spec(sys.argv[1]), QUERIES))))
