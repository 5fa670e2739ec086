"""Options that may change where a query goes on from a checkpoint: they say where the same rows
are found, and how fast they are read."""

from __future__ import annotations

from sqlwin.plan.options import kafka_options

RELOAD = "reload.interval"
TUNING = frozenset(
    (
        *("servers", "start", "max.records", "wait", "url", "user", "password", RELOAD),
        *(kafka_options.LOSS, kafka_options.IDLE),
        *(kafka_options.REGISTRY, kafka_options.REGISTRY_CREDENTIALS),
    )
)
"""Of streams: what says where the same rows are found, and how fast they are read."""


def tunes(name: str) -> bool:
    """Whether an option of a stream may be another where a query goes on from a checkpoint."""
    return name in TUNING or name.startswith(kafka_options.CLIENT)
