"""Kernel values from dot products, beside the kernels themselves."""

import numpy as np
import pytest

from kmviz.kernels import RBF, Linear, Polynomial
from kmviz.loops.nsv_folds import kernels_of_products, kernels_of_rows

ROWS = np.random.default_rng(0).normal(size=(9, 5))


@pytest.mark.parametrize(
    "kernel", [Linear(), Polynomial(3, 0.5, 1.0), Polynomial(17, 0.1, 0.5), RBF(0.3)], ids=repr
)
def test_kernel_values_of_products_equal_the_kernel(kernel):
    center = ROWS.mean(axis=0)
    away = ROWS - center
    products = (away @ away.T).astype(np.float32)
    beside = ROWS @ center - center @ center / 2
    if isinstance(kernel, RBF):
        beside = products.diagonal().copy()
    K = np.zeros((12, 12), dtype=np.float32)
    kernels_of_products(*kernel.code, products, beside.astype(np.float32), K)
    np.testing.assert_allclose(K[:9, :9], kernel(ROWS, ROWS), rtol=2e-5, atol=1e-5)
    assert not K[9:].any()
    assert not K[:, 9:].any()


@pytest.mark.parametrize("d", [1, 2, 7])
def test_kernel_values_of_short_rows_equal_the_kernel(d):
    rows = np.random.default_rng(d).normal(size=(40, d)).astype(np.float32)
    K = np.zeros((64, 64), dtype=np.float32)
    kernels_of_rows(np.ascontiguousarray(rows.T * np.float32(3.0**0.5)), K)
    np.testing.assert_allclose(K[:40, :40], RBF(3.0)(rows.astype(float), rows), 1e-5, 1e-9)
    assert not K[40:].any()
    assert not K[:, 40:].any()
