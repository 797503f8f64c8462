"""Compiled kernel values against the NumPy kernels."""

import threading

import numpy as np
import pytest

from kmviz.kernels import RBF, Linear, Normalized, Polynomial
from kmviz.loops import modules, threads, warm
from kmviz.loops.kernel import kernel_value, machine_output, machine_outputs

RNG = np.random.default_rng(3)
A, B = RNG.normal(size=(6, 5)), RNG.normal(size=(4, 5))
KERNELS = [Linear(), Polynomial(3, 0.5, 1.0), RBF(0.4), Normalized(Polynomial(9))]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_equal_the_twin(kernel, dtype):
    a, b = kernel.embed(A.astype(dtype)), kernel.embed(B.astype(dtype))
    ours = [[kernel_value(*kernel.code, x, z) for z in b] for x in a]
    tolerance = 1e-12 if dtype is np.float64 else 1e-4
    np.testing.assert_allclose(ours, kernel(A, B), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_outputs_of_few_are_those_of_one(kernel):
    a, b = kernel.embed(A), kernel.embed(B)
    beta, bias, together = RNG.normal(size=4), 0.3, np.empty(6)
    machine_outputs(*kernel.code, a, b, beta, bias, together)
    alone = [machine_output(*kernel.code, x, b, beta, bias) for x in a]
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_allclose(together, kernel(A, B) @ beta - bias, rtol=1e-10)


@pytest.mark.parametrize("limit", [1, 3])
def test_chunks_cover_every_row_once(limit):
    seen = np.zeros(1000, dtype=int)

    def work(start, stop):
        seen[start:stop] += 1

    with threads.limited(limit):
        threads.over_chunks(work, 1000, chunk=64)
    assert (seen == 1).all()


@pytest.mark.parametrize("limit", [1, 3])
def test_items_come_back_in_order(limit):
    with threads.limited(limit):
        assert list(threads.over_items(lambda n: n * n, range(20))) == [n * n for n in range(20)]


def test_an_error_in_a_chunk_is_raised():
    def work(start, stop):
        raise ZeroDivisionError(start)

    with pytest.raises(ZeroDivisionError):
        threads.over_chunks(work, 1000, chunk=64)


def test_few_chunks_do_not_wait_for_the_many_of_others():
    go, begun, seen = threading.Event(), threading.Event(), []

    def slow(start, stop):
        begun.set()
        go.wait(30)

    def calls(work, n_rows):
        return threading.Thread(target=threads.over_chunks, args=(work, n_rows, 1))

    others = [calls(slow, 64) for _ in range(threads.n_threads())]
    mine = calls(lambda start, stop: seen.append(start), 4)
    for other in others:
        other.start()
    assert begun.wait(10)
    mine.start()
    mine.join(10)
    assert sorted(seen) == [0, 1, 2, 3]
    go.set()
    for thread in (mine, *others):
        thread.join(10)


def test_every_module_with_loops_compiles():
    names = modules()
    assert {"anytime", "kernel", "nsv_walk"} <= set(names)
    assert [warm(name) for name in names] == names
