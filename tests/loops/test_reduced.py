"""The sequential loop against its plain twin."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from kmviz import ReducedSetClassifier
from kmviz.kernels import RBF, Normalized, Polynomial
from kmviz.loops.reduced import warm

X, Y = make_moons(200, noise=0.2, random_state=0)
QUERIES = make_moons(600, noise=0.2, random_state=1)[0]


@pytest.mark.parametrize("kernel", [RBF(1.5), Polynomial(3), Normalized(Polynomial(4))], ids=str)
def test_the_loop_equals_its_twin(kernel):
    svc = SVC(kernel=kernel, C=5.0)
    clf = ReducedSetClassifier(
        FrozenEstimator(svc.fit(X, Y)), n_vectors=10, method="incremental", sequential=True,
        max_disagreement=0.1, random_state=0,
    ).fit(QUERIES)  # fmt: skip
    engine = clf.engines_[0]
    output, steps = engine.run(X)
    twins = [engine._one_by_one(x) for x in X]
    np.testing.assert_allclose(output, [twin[0] for twin in twins], atol=1e-9)
    np.testing.assert_array_equal(steps, [twin[1] for twin in twins])
    assert steps.min() < clf.machine_.n_vectors
    in_float32 = clf.decision_function(X.astype(np.float32))
    np.testing.assert_allclose(in_float32, output, atol=1e-2)


def test_warming_compiles_without_complaint():
    assert warm() is None
