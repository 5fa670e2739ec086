"""A plan that does not use a field that its nodes got later has the digest of before."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlwin.added import ADDED, added_values


@dataclass(frozen=True)
class Then:
    name: str


@dataclass(frozen=True)
class Now:
    name: str
    below: Then | None = None
    at_once: bool = field(default=False, repr=False, metadata=ADDED)


def test_a_default_is_not_in_the_text() -> None:
    assert repr(Now("a")).endswith("Now(name='a', below=None)")
    assert list(added_values([Now("a", Then("b"))])) == []


def test_another_value_comes_with_its_node_and_field() -> None:
    found = [Now("a", Then("b"), at_once=True), (Now("c"), Now("d", at_once=True))]
    assert list(added_values(found)) == [("Now", "at_once", True)] * 2
