"""Parts: built into the loops that call them, and no less careful there."""

import numpy as np
import pytest

from kmviz.loops import cache
from kmviz.loops.compile import compiled, part, part_finite, part_strict


@part
def half(x):
    return 0.5 * x


@part_strict
def room(n):
    if n < 0:
        raise ValueError("less than nothing")
    return np.zeros(n)


@part_finite
def largest(values):
    best = values[0]
    for i in range(1, values.shape[0]):
        best = max(best, values[i])
    return best


def loop(x, n):
    values = room(n)
    values[0] = half(x)
    return largest(values)


@pytest.fixture(params=["fresh", "kept"])
def made(request, tmp_path, monkeypatch):
    """The loop as it was compiled just now, and as another process finds it on disk."""
    monkeypatch.setattr(cache, "folders", lambda: (tmp_path,))
    monkeypatch.setattr(cache, "source_stamp", lambda module: "now")
    first = compiled(loop)
    first(1.0, 1)
    if request.param == "fresh":
        return first
    second = compiled(loop)
    second(1.0, 1)
    assert sum(second.stats.cache_hits.values()) == 1
    return second


def test_a_loop_is_what_its_parts_make_it(made):
    assert made(3.0, 2) == loop(3.0, 2) == 1.5


def test_an_error_in_a_part_reaches_the_caller(made):
    with pytest.raises(ValueError, match="less than nothing"):
        made(3.0, -1)
    assert made(3.0, 1) == 1.5


def test_parts_alone_leave_nothing_on_disk(made, tmp_path):
    assert {file.name.split("-")[0] for file in tmp_path.iterdir()} == {"test_compile.loop"}
