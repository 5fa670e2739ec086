"""The process of one run: see bench.run."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from bench.run import answer, spec

if __name__ == "__main__":
    print(json.dumps(asdict(answer(spec(sys.argv[1])))))
