"""What a row costs: docs/scaling.md; see `python -m bench.curves --help`."""
