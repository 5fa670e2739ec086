"""The library confluent-kafka, which comes with the extra `kafka` of the package."""

from __future__ import annotations

from typing import Any

from sqlwin.errors import RunError

MISSING = "Kafka needs confluent-kafka: pip install 'sqlwin[kafka]'"


def kafka() -> Any:
    """The library. RunError where it is not installed."""
    try:
        import confluent_kafka
        import confluent_kafka.admin
    except ImportError as missing:
        raise RunError(MISSING) from missing
    return confluent_kafka
