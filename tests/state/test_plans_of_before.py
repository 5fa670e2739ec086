"""A query of each kind has the plan's digest and the stores that it had in 0.2.0.

So its checkpoint from there is found to be its own, and its state can be read. The fixture was
written by 0.2.0 and is never written again: a field that a node gets is declared as in
`sqlwin/added.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sqlwin.plan.properties.fingerprint import fingerprint
from sqlwin.runtime.lowering.chain import chain
from sqlwin.sql import script
from sqlwin.state.segments.codec import schema_print

PLANS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "fixtures" / "plans_0.2.0.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_known_again(name: str) -> None:
    (query,) = script(PLANS[name]["text"]).queries
    stores = {
        f"{number}/{spec.layout.name}": [
            schema_print(spec.layout.schema).hex(),
            spec.layout.slice_width,
        ]
        for number, stage in enumerate(chain(query).stages)
        for spec in stage.stores
    }
    assert (fingerprint(query), stores) == (PLANS[name]["plan"], PLANS[name]["stores"])
