"""The linear filter on rows of any size."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from kmviz.methods.nsv.linear_filter import train_filter

X, y = make_moons(60, noise=0.1, random_state=0)
SIDE = 2 * y - 1


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-20, 1e20, 1e150])
def test_small_and_large_rows_are_filtered_as_others_are(size):
    weights, bias = train_filter(X, SIDE, SIDE.astype(float))
    scaled, offset = train_filter(X * size, SIDE, SIDE.astype(float))
    np.testing.assert_allclose((X * size) @ scaled - offset, X @ weights - bias, rtol=1e-6)


def test_rows_all_in_one_place_say_nothing():
    assert train_filter(np.ones((60, 2)), SIDE, SIDE.astype(float)) is None
