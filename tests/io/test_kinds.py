"""A stored number, array or part of another kind than its class declares is refused in words."""

import numpy as np
import pytest
from numpy.typing import NDArray

import kmviz
from kmviz.io.kinds import declared, fits, parts_of
from kmviz.io.storage import StorageError, dumps
from kmviz.methods.register import METHODS
from tests.fuzz.cases import places, stored

NAMES = [method.name for method in METHODS]


def inside(thing, seen):
    """Every object of kmviz inside a model."""
    if id(thing) in seen or isinstance(thing, str | bytes | np.ndarray | int | float):
        return
    seen.add(id(thing))
    if type(thing).__module__.startswith("kmviz."):
        yield thing
    held = thing if isinstance(thing, dict) else parts_of(thing)
    for part in thing if isinstance(thing, list | tuple) else held.values():
        yield from inside(part, seen)


@pytest.mark.parametrize("name", NAMES)
def test_every_number_and_array_has_a_declared_kind(name):
    model = kmviz.load(stored(name))
    for thing in inside(model, set()):
        given = getattr(thing, "_parameter_constraints", {})
        state = parts_of(thing) if isinstance(thing, tuple) else thing.__getstate__() or {}
        for part, value in state.items():
            counted = isinstance(value, np.ndarray | float | int) and not isinstance(value, bool)
            known = part in declared(type(thing)) or part in given
            assert known or not counted, f"{type(thing).__name__}.{part} is annotated nowhere"


@pytest.mark.parametrize("name", ["knnsvm", "svtree"])
def test_no_number_may_be_an_array(name):
    content, n = stored(name), len(list(places(kmviz.load(stored(name)), print, set())))
    for place in range(n):
        model = kmviz.load(content)
        value, put = list(places(model, print, set()))[place]
        if np.ndim(value):
            continue
        put(np.full((1, 1, 1), value))
        with pytest.raises((StorageError, TypeError)):
            kmviz.load(dumps(model))


@pytest.mark.parametrize("change", [np.float16, ">f8", None])
def test_types_that_no_loop_reads(change):
    clf = kmviz.load(stored("nsv"))
    engine = clf.engines_[0]
    changed = 0.5 if change is None else engine.candidates.weights.astype(change)
    engine.candidates = engine.candidates._replace(weights=changed)
    with pytest.raises(StorageError, match=r"weights|float16|>f8"):
        kmviz.load(dumps(clf))


def test_a_parameter_is_held_to_what_fit_takes():
    clf = kmviz.load(stored("falk"))
    clf.n_neighbors = np.zeros(3)
    with pytest.raises(StorageError, match="n_neighbors"):
        kmviz.load(dumps(clf))


@pytest.mark.parametrize(
    ("value", "hint", "is_one"),
    [
        (1, float, True), (np.float32(1), float, True), (True, int, False), (1.5, int, False),
        (np.zeros(2), float, False), (np.zeros(2), NDArray[np.intp], False),
        (np.zeros(2, int), NDArray[np.intp], True), (np.array(["x"]), NDArray[np.float64], False),
        (None, NDArray[np.float64] | None, True), ([1.0, "x"], list[float], False),
        ((1, 2.0), tuple[int, float], True), ((1,), tuple[int, float], False),
        (np.bool_(True), bool, True), (1, bool, False), ("a", str, True),
    ],
)  # fmt: skip
def test_values_and_what_annotations_say(value, hint, is_one):
    assert fits(value, hint) is is_one
