"""The expressions of Spark's own manual: no class of differences has grown.

Those of its tests come out of a jar that is not here: `python -m tests.functions.goldens`.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.functions.classes import CLASSES, Verdict
from tests.functions.goldens import KEPT, answered, grown, of_manual
from tests.functions.live import compared


@pytest.mark.spark
@pytest.mark.long
def test_the_manual(recording: Any) -> None:
    assert (
        grown("manual", compared(list(answered(recording, of_manual(recording))), "").values())
        == []
    )


def test_what_has_grown_is_said() -> None:
    kept = {of: counts for of, *counts in map(str.split, KEPT.read_text("utf-8").splitlines()[1:])}
    refused = int(kept["jar"][CLASSES.index("refused")])
    assert grown("jar", [Verdict("refused")] * refused + [Verdict("same")] * 9999) == []
    found = [Verdict("refused")] * (refused + 1) + [Verdict("silent")]
    assert grown("jar", found) == [f"{refused + 1} refused, not {refused}", "1 silent, not 0"]
