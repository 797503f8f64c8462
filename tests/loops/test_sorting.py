"""What loops sort with, against NumPy's own."""

import numpy as np
import pytest

from kmviz.loops.compile import compiled_strict
from kmviz.loops.sorting import LARGE, select, sort_falling

RNG = np.random.default_rng(0)
VALUES = {
    "few": RNG.normal(size=LARGE),
    "many": RNG.normal(size=5000),
    "ties": RNG.integers(3, size=700).astype(float),
    "sorted": np.arange(300.0),
    "falling": np.arange(300.0)[::-1].copy(),
    "one": np.ones(1),
}
sort_compiled, select_compiled = compiled_strict(sort_falling), compiled_strict(select)


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_falling_scores_and_equal_ones_by_number(values):
    members = RNG.permutation(len(values))
    sort_compiled(values, members)
    np.testing.assert_array_equal(members, np.argsort(-values, kind="stable"))


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_the_value_at_a_place_is_that_of_a_sort(values):
    for place in {0, len(values) // 3, len(values) // 2, len(values) - 1}:
        assert select_compiled(values.copy(), place) == np.sort(values)[place]
