"""Which topics a stream reads: those it names, or all that match a pattern, also later ones."""

from __future__ import annotations

from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.kafka.client import Consumer


@dataclass(frozen=True)
class Topics:
    """listed: in the order of their names, or none where there is a pattern."""

    listed: tuple[str, ...]
    pattern: str = ""

    def __str__(self) -> str:
        if self.pattern:
            return f"topic.pattern {self.pattern!r}"
        return f"topic{'s' * (len(self.listed) > 1)} {', '.join(self.listed)}"

    def names(self, consumer: Consumer, wait: float) -> list[str]:
        """Of those there are now."""
        return consumer.matching(self.pattern, wait) if self.pattern else list(self.listed)
