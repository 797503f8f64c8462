"""A word means one kernel, wherever it is read: in an SVC, a machine or a local method."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from kmviz import FaLKClassifier, KernelMachine, KNNSVMClassifier, LocalNoiseReducer
from kmviz.kernels import RBF, Linear, Normalized, Polynomial
from kmviz.machines.named import (
    NAMES,
    kernel_parameters,
    named_kernel,
    named_svc,
    string_kernel,
)  # fmt: skip

X, y = make_moons(120, noise=0.2, random_state=0)


@pytest.mark.parametrize("name", NAMES)
def test_the_svc_of_a_word_is_the_machine_with_its_kernel(name):
    svc = named_svc(name, C=5.0, gamma=0.7, degree=2, coef0=0.5).fit(X, y)
    machine = KernelMachine.from_estimator(svc)
    assert machine.kernel == named_kernel(name, gamma=0.7, degree=2, coef0=0.5)
    np.testing.assert_allclose(
        machine.decision_function(X), svc.decision_function(X), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("make", [FaLKClassifier, KNNSVMClassifier])
def test_a_local_method_trains_the_kernel_that_the_word_names(make, name):
    """One model over all rows is the SVM of the same word."""
    given = kernel_parameters(name, gamma=0.7, degree=2)
    clf = make(n_neighbors=len(X), C=5.0, **given).fit(X, y)
    assert clf.kernel_ == named_kernel(name, gamma=0.7, degree=2, coef0=1.0)
    svc = named_svc(name, C=5.0, gamma=0.7, degree=2).fit(X, y)
    np.testing.assert_allclose(
        clf.decision_function(X), svc.decision_function(X), rtol=0.02, atol=0.02
    )


@pytest.mark.parametrize("method", ["falk", "knnsvm"])
def test_noise_is_reduced_under_the_degree_asked_for(method):
    found = [
        LocalNoiseReducer(method, 40, kernel="poly", degree=d, coef0=1.0, random_state=0)
        for d in (1, 4)
    ]
    for reducer in found:
        reducer.fit_resample(X, y)
    same = LocalNoiseReducer(method, 40, kernel=Polynomial(4, _scale(), 1.0), random_state=0)
    same.fit_resample(X, y)
    assert (found[1].noise_ == same.noise_).all()
    assert (found[0].noise_ != found[1].noise_).any()


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.3), Polynomial(4, 0.3, 2.0)])
def test_a_plain_kernel_and_its_words_mean_the_same(kernel):
    words = string_kernel(kernel)
    assert named_kernel(words.pop("kernel"), **words) == kernel


def test_only_the_four_words_are_known():
    assert named_kernel("poly_normalized", degree=4, coef0=1.0) == Normalized(Polynomial(4))
    with pytest.raises(ValueError, match="'sigmoid' is not supported"):
        named_kernel("sigmoid")
    with pytest.raises(ValueError, match="'sigmoid' is not supported"):
        named_svc("sigmoid", C=1.0)


def _scale() -> float:
    return 1.0 / (X.shape[1] * X.var())
