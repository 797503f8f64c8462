"""The vectorised exponentials against NumPy's."""

import numpy as np

from kmviz.loops.exponential import exp32, exp64


def test_fast_exponentials():
    x = np.linspace(-80, 0, 5001)
    single = np.array([exp32(np.float32(v)) for v in x])
    np.testing.assert_allclose(single, np.exp(x.astype(np.float32)), rtol=3e-7)
    double = np.array([exp64(v) for v in 8 * x])
    np.testing.assert_allclose(double, np.exp(8 * x), rtol=4e-15)
    assert exp32(np.float32(-1e6)) < 1e-37
    assert exp64(-1e6) < 1e-300
