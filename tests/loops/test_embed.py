"""Unit rows against plain NumPy."""

import numpy as np
import pytest

from kmviz.kernels import Linear, Normalized, Polynomial
from kmviz.loops.embed import unit_rows

ROWS = np.random.default_rng(0).normal(size=(50, 7))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("gamma", "coef0", "width"), [(1.0, 1.0, 8), (0.3, 2.5, 8), (1.0, 0.0, 7)])
def test_unit_rows(dtype, gamma, coef0, width):
    rows = ROWS.astype(dtype)
    units = np.empty((50, width), dtype=dtype)
    unit_rows(rows, gamma, coef0, units)
    whole = np.column_stack([np.sqrt(gamma) * rows, np.full(50, np.sqrt(coef0))])
    expected = whole / np.linalg.norm(whole, axis=1, keepdims=True)
    rtol = 1e-5 if dtype == np.float32 else 1e-13
    np.testing.assert_allclose(units, expected[:, :width], rtol=rtol, atol=rtol)


def test_a_row_without_length_stays_zero():
    units = np.ones((1, 3))
    unit_rows(np.zeros((1, 3)), 1.0, 0.0, units)
    np.testing.assert_array_equal(units, 0.0)


@pytest.mark.parametrize("kernel", [Normalized(Polynomial(3, 0.5, 2.0)), Normalized(Linear())])
def test_any_layout_is_embedded_alike(kernel):
    expected = kernel.embed(ROWS)
    frozen = ROWS.copy()
    frozen.flags.writeable = False
    for rows in (np.asfortranarray(ROWS), np.repeat(ROWS, 2, axis=0)[::2], frozen, ROWS.tolist()):
        np.testing.assert_array_equal(kernel.embed(rows), expected)
