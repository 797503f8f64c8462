"""Outputs of local models against plain sums over their vectors."""

import numpy as np
import pytest

from kmviz.kernels import RBF, Linear, Polynomial
from kmviz.loops import falk_answer
from kmviz.machines.votes import by_votes

KERNELS = [Linear(), RBF(0.7), Polynomial(3, gamma=0.5, coef0=1.0)]
#: Machines of each model; the second has none.
MACHINES = np.array([0, 3, 3, 4, 10])
N_MODELS, MOST = 4, 6


def kernel_of(kernel, gamma):
    """The kernel with a model's own gamma."""
    if isinstance(kernel, RBF):
        return RBF(gamma)
    if isinstance(kernel, Polynomial):
        return Polynomial(kernel.degree, gamma, kernel.coef0)
    return kernel


def models(rng, n_rows):
    """Flat models; two machines have no vectors at all."""
    counts = rng.integers(0, 9, size=MACHINES[-1])
    counts[[1, 5]] = 0
    starts = np.concatenate([[0], np.cumsum(counts)])
    index = rng.integers(0, n_rows, size=starts[-1]).astype(np.int32)
    return MACHINES, starts, index, rng.normal(size=starts[-1]), rng.normal(size=len(counts))


def plain(kernel, gammas, X, model, rows, machines, starts, index, weight, bias):
    """The twin: one sum for each query and machine."""
    out = np.zeros((len(X), MOST))
    for q, m in enumerate(model):
        K = kernel_of(kernel, gammas[m])
        for p, t in enumerate(range(machines[m], machines[m + 1])):
            part = slice(starts[t], starts[t + 1])
            out[q, p] = K(X[q : q + 1], rows[index[part]])[0] @ weight[part] - bias[t]
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(k).__name__)
def test_answers(kernel, dtype):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 3)).astype(dtype)
    X = rng.normal(size=(30, 3)).astype(dtype)
    model = np.sort(rng.integers(0, N_MODELS, size=30)).astype(np.int32)
    gammas = rng.uniform(0.2, 2.0, size=N_MODELS)
    flat = models(rng, len(rows))
    kind, _, coef0, degree = kernel.code
    out = np.zeros((len(X), MOST))
    falk_answer.answers(kind, gammas, coef0, degree, X, model, rows, *flat, out)
    wide = X.astype(float), model, rows.astype(float)
    np.testing.assert_allclose(out, plain(kernel, gammas, *wide, *flat), rtol=1e-9, atol=1e-9)


def test_an_answer_does_not_depend_on_who_asked_before():
    rng = np.random.default_rng(1)
    rows, X = rng.normal(size=(40, 2)), rng.normal(size=(12, 2))
    model = np.repeat([2, 0, 3, 0], 3).astype(np.int32)  # larger and smaller models in turn
    flat, gammas = models(rng, len(rows)), np.ones(N_MODELS)
    together, alone = np.zeros((2, 12, MOST))
    code = RBF(1.0).code
    falk_answer.answers(code[0], gammas, *code[2:], X, model, rows, *flat, together)
    for q in range(12):
        one = slice(q, q + 1)
        falk_answer.answers(code[0], gammas, *code[2:], X[one], model[one], rows, *flat, alone[one])
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(k).__name__)
def test_parts(kernel):
    rng = np.random.default_rng(2)
    rows, x = rng.normal(size=(9, 3)), rng.normal(size=3)
    index = np.array([4, 1, 4, 8], dtype=np.int32)
    vectors, values = np.empty((3, 4)), np.empty(4)
    falk_answer.gather_vectors(rows, index, vectors)
    np.testing.assert_array_equal(vectors, rows[index].T)
    falk_answer.kernel_values(*kernel.code, x, vectors, values)
    np.testing.assert_allclose(values, kernel(x[None], rows[index])[0], rtol=1e-9)
    weight = rng.normal(size=4)
    assert falk_answer.weighted_sum(weight, values) == pytest.approx(weight @ values, rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_scores_of_seen_classes_are_those_of_all_pairs(n_classes):
    rng = np.random.default_rng(n_classes)
    owned = [np.sort(rng.permutation(n_classes)[:c]) for c in range(1, n_classes + 1)]
    starts = np.concatenate([[0], np.cumsum([len(own) for own in owned])])
    model = rng.integers(0, len(owned), size=40).astype(np.int32)
    most = n_classes * (n_classes - 1) // 2
    outputs, dense = rng.normal(size=(40, most)), np.empty((40, most))
    for q, m in enumerate(model):  # the twin: a column for each pair of all classes
        seen, machine = set(owned[m].tolist()), 0
        for p, (a, b) in enumerate(zip(*np.triu_indices(n_classes, 1), strict=True)):
            dense[q, p] = (a in seen) - float(b in seen)
            if a in seen and b in seen:
                dense[q, p] = outputs[q, machine]
                machine += 1
            elif n_classes == 2:
                dense[q, p] *= -1.0
    scores = np.empty((40, n_classes if n_classes > 2 else 1))
    classes = np.concatenate(owned).astype(np.int32)
    falk_answer.local_scores(model, starts, classes, outputs, scores)
    expected = dense if n_classes == 2 else by_votes(dense, n_classes)
    np.testing.assert_allclose(scores, expected, atol=1e-12)
