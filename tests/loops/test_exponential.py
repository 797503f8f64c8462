"""The vectorised exponentials against NumPy's, and both against what certificates assume."""

import os

import numba
import numpy as np
import pytest

from kmviz.loops.exponential import exp32, exp64
from kmviz.loops.rounding import DOUBLE, EXPONENTIAL, SINGLE, TINY

#: Every float32 between, or one in so many.
SMALLEST, LARGEST = 2.0**-26, 87.0
EVERY = 1 if os.environ.get("FULL") else 1009


def test_fast_exponentials():
    x = np.linspace(-80, 0, 5001)
    single = np.array([exp32(np.float32(v)) for v in x])
    np.testing.assert_allclose(single, np.exp(x.astype(np.float32)), rtol=3e-7)
    double = np.array([exp64(v) for v in 8 * x])
    np.testing.assert_allclose(double, np.exp(8 * x), rtol=4e-15)
    assert exp32(np.float32(-1e6)) < 1e-37
    assert exp64(-1e6) < 1e-300


@numba.njit
def _of_all(x, out):
    for i in range(x.size):
        out[i] = exp32(x[i])


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_every_exponential_of_float32_is_as_near_as_bounds_assume(sign):
    first, last = (int(np.float32(end).view(np.int32)) for end in (SMALLEST, LARGEST))
    for start in range(first, last, 2**22):
        bits = np.arange(start, min(start + 2**22, last), EVERY, dtype=np.int32)
        x = np.float32(sign) * bits.view(np.float32)
        exact, own = np.exp(x.astype(np.float64)), np.empty_like(x)
        _of_all(x, own)
        for found in (np.exp(x), own):
            assert (np.abs(found - exact) <= EXPONENTIAL * SINGLE * exact).all()


def test_what_lies_below_float32_is_off_by_less_than_underflow_allows():
    x = np.linspace(-200.0, -87.0, 9_999).astype(np.float32)
    own = np.empty_like(x)
    _of_all(x, own)
    for found in (np.exp(x), own):
        off = np.abs(found - np.exp(x.astype(np.float64)))
        assert (off <= np.maximum(TINY, EXPONENTIAL * SINGLE * found)).all()


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="no type wider than float64 here")
def test_exponentials_of_float64_are_as_near_as_bounds_assume():
    x = -np.random.default_rng(0).exponential(20.0, size=200_000 // (1 if EVERY == 1 else 20))
    exact = np.exp(x.astype(np.longdouble))
    own = np.array([exp64(v) for v in x[:2_000]])
    assert (np.abs(np.exp(x) - exact) <= EXPONENTIAL * DOUBLE * exact).all()
    assert (np.abs(own - exact[:2_000]) <= EXPONENTIAL * DOUBLE * exact[:2_000]).all()
