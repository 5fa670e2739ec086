"""What is done again while a broker is away, until it takes too long or will never pass."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent import futures
from typing import Any, TypeVar

from sqlwin.errors import RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.kafka.library import kafka

PAUSE_SECONDS = 0.2
_T = TypeVar("_T")


@dataclass
class Noted:
    """The last error that a client reported, which says more than that nobody answers."""

    error: Any = None

    def __call__(self, error: Any) -> None:
        if self.error is None or error.code() != kafka().KafkaError._ALL_BROKERS_DOWN:
            self.error = error

    @property
    def text(self) -> str:
        return "" if self.error is None else str(self.error.str())


def patiently(what: str, wait: float, work: Callable[[], _T], noted: Noted | None = None) -> _T:
    """Do it, again while it fails for less than `wait` seconds; then RunError."""
    noted = Noted() if noted is None else noted
    noted.error = None
    failures = (kafka().KafkaException, TimeoutError, futures.TimeoutError)
    until = time.monotonic() + wait
    while True:
        try:
            return work()
        except failures as failure:
            if time.monotonic() > until or not _passes(failure, noted):
                why = "; ".join(dict.fromkeys(filter(None, (reason(failure), noted.text))))
                raise RunError(f"cannot {what}: {why}") from failure
        time.sleep(PAUSE_SECONDS)


def is_final(error: Any) -> bool:
    """Whether it will be the same the next time: a setting or a right is wrong."""
    known = kafka().KafkaError
    final = (
        known._AUTHENTICATION,
        known._INVALID_ARG,
        known.TOPIC_AUTHORIZATION_FAILED,
        known.SASL_AUTHENTICATION_FAILED,
        known.CLUSTER_AUTHORIZATION_FAILED,
    )
    return error.code() in final or error.fatal()


def _passes(failure: Exception, noted: Noted) -> bool:
    if noted.error is not None and is_final(noted.error):
        return False
    return isinstance(failure, TimeoutError | futures.TimeoutError) or not is_final(failure.args[0])


def reason(failure: Exception) -> str:
    if isinstance(failure, TimeoutError | futures.TimeoutError):
        return "no broker answers"
    error = failure.args[0]
    return str(error.str() if hasattr(error, "str") else error)
