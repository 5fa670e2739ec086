"""The dataclass of this project beside that of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any, ClassVar

import pytest

from sqlwin import lazy_dataclass

Declare = Callable[..., Any]
BOTH = [dataclass, lazy_dataclass.dataclass]


def orders(declare: Declare) -> Any:
    """A frozen class of most kinds of field, with a subclass."""

    @declare(frozen=True)
    class Order:
        """Of a shop."""

        LIMIT: ClassVar[int] = 9
        product: str
        value: int = 1
        tags: dict[str, int] = field(default_factory=dict)
        note: str = field(default="", repr=False, compare=False)
        total: int = field(init=False, compare=False)
        shop: str = field(default="corner", kw_only=True)

        def __post_init__(self) -> None:
            if self.value > self.LIMIT:
                raise ValueError("too many")
            object.__setattr__(self, "total", 2 * self.value)

    @declare(frozen=True)
    class Paid(Order):
        cents: float = 0.0
        value: int = 3

    return Paid


def accounts(declare: Declare) -> Any:
    @declare
    class Account:
        owner: str
        found: list[int] = field(default_factory=list)
        seen: set[int] = field(init=False, default_factory=set)

    return Account


@pytest.mark.parametrize("declare", BOTH)
def test_objects_are_made_shown_and_compared(declare: Declare) -> None:
    paid = orders(declare)
    one = paid("tea", 2, {"a": 1}, cents=0.5, shop="market")
    name = paid.__qualname__
    assert repr(one) == (
        f"{name}(product='tea', value=2, tags={{'a': 1}}, total=4, shop='market', cents=0.5)"
    )
    assert one == paid("tea", 2, {"a": 1}, "a note", shop="market", cents=0.5)
    assert one != paid("tea", 2, {"a": 1}, cents=0.5)
    assert one != "tea"
    assert paid("tea").value == 3
    assert paid("tea").tags is not paid("tea").tags
    assert replace(one, value=4).total == 8
    assert copy.copy(one) == one == copy.deepcopy(one)
    assert paid.__match_args__ == ("product", "value", "tags", "note", "cents")
    assert [each.name for each in fields(paid)] == [
        *("product", "value", "tags", "note", "total", "shop", "cents")
    ]
    with pytest.raises(ValueError, match="too many"):
        paid("tea", 10)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'product'"):
        paid()


@pytest.mark.parametrize("declare", BOTH)
def test_a_field_may_be_compared_and_not_hashed(declare: Declare) -> None:
    @declare(frozen=True)
    class Golden:
        name: str
        head: dict[str, int] = field(hash=False)

    one, other = Golden("a", {"n": 1}), Golden("a", {"n": 2})
    assert one != other
    assert hash(one) == hash(other) == hash(("a",))


@pytest.mark.parametrize("declare", BOTH)
def test_what_is_frozen_has_a_hash_and_takes_nothing(declare: Declare) -> None:
    paid = orders(declare)
    one = paid("tea")
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'value'"):
        one.value = 3
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'other'"):
        one.other = 3
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'value'"):
        del one.value
    hashed = paid("tea", tags=())
    assert hash(hashed) == hash(("tea", 3, (), "corner", 0.0))
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


@pytest.mark.parametrize("declare", BOTH)
def test_what_is_not_frozen_has_no_hash(declare: Declare) -> None:
    account = accounts(declare)
    one = account("me")
    one.found.append(1)
    one.owner = "you"
    assert one == account("you", [1])
    assert repr(one).endswith("(owner='you', found=[1], seen=set())")
    assert account.__hash__ is None


@pytest.mark.parametrize("declare", BOTH)
def test_what_a_class_defines_itself_stays(declare: Declare) -> None:
    @declare(frozen=True)
    class Own:
        name: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

        def __repr__(self) -> str:
            return "own"

    @declare(eq=False)
    class Identified:
        name: str

    @declare
    class Hashed:
        name: str

        def __hash__(self) -> int:
            return 7

    assert Own("a") == Own("b")
    assert hash(Own("a")) == hash(("a",))
    assert repr(Own("a")) == "own"
    assert Identified("a") != Identified("a")
    assert len({Identified("a"), Identified("a")}) == 2
    assert {Hashed("a"), Hashed("a")} == {Hashed("a")}


@pytest.mark.parametrize("declare", BOTH)
def test_a_class_without_fields(declare: Declare) -> None:
    @declare(frozen=True)
    class Nothing:
        pass

    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(())
    assert repr(Nothing()).endswith("Nothing()")
    with pytest.raises(FrozenInstanceError):
        Nothing().a = 1


@pytest.mark.parametrize("declare", BOTH)
def test_methods_are_inherited(declare: Declare) -> None:
    @declare(frozen=True)
    class Base:
        name: str

    @declare(frozen=True)
    class Derived(Base):
        size: int = 0

        def __post_init__(self) -> None:
            assert self.name

    @declare(frozen=True)
    class Renamed(Base):
        def __init__(self, first: str, last: str) -> None:
            super().__init__(f"{first} {last}")

    class Plain(Base):
        pass

    assert Derived("a", 1) == Derived("a", size=1)
    assert Derived("a") != Base("a")
    assert Renamed("a", "b").name == "a b"
    assert Plain("a") == Plain("a") != Base("a")
    assert repr(Plain("a")).endswith("Plain(name='a')")
    plain = Plain("a")
    plain.other = 1
    with pytest.raises(FrozenInstanceError):
        plain.name = "b"


@pytest.mark.parametrize("declare", BOTH)
def test_its_signature_is_read_before_it_is_called(declare: Declare) -> None:
    assert str(inspect.signature(accounts(declare))) == (
        "(owner: 'str', found: 'list[int]' = <factory>) -> None"
    )


@pytest.mark.parametrize("declare", BOTH)
def test_what_holds_itself_is_shown(declare: Declare) -> None:
    account = accounts(declare)
    one = account("me")
    one.found.append(one)
    assert "found=[...]" in repr(one)


@lazy_dataclass.dataclass(frozen=True)
class Sent:
    name: str


def test_objects_go_to_other_processes() -> None:
    assert pickle.loads(pickle.dumps(Sent("tea"))) == Sent("tea")
    assert dataclasses.asdict(Sent("tea")) == {"name": "tea"}
    assert vars(Sent)["__init__"].__qualname__ == "Sent.__init__"


def test_threads_make_objects_of_a_new_class_at_once() -> None:
    for _ in range(50):
        paid = orders(lazy_dataclass.dataclass)
        made = []
        start = threading.Barrier(4)

        def make(start: threading.Barrier = start, paid: Any = paid, made: Any = made) -> None:
            start.wait()
            made.append(paid("tea", tags=()))

        threads = [threading.Thread(target=make) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert len(set(made)) == 1


def test_nothing_is_compiled_before() -> None:
    code = """
import builtins
from sqlwin.lazy_dataclass import dataclass
compiled, run = [], exec
builtins.exec = lambda text, *names: (compiled.append(text), run(text, *names))
@dataclass(frozen=True)
class Point:
    x: int
assert not compiled
Point(1), Point(2)
assert len(compiled) == 1, compiled
"""
    subprocess.run([sys.executable, "-c", code], check=True)
