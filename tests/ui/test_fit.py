"""The machine of every kernel equals the SVC it was read from."""

import numpy as np
import pytest

from kmviz import datasets
from kmviz.views.problem import fit


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "poly_normalized"])
def test_machine_estimator_and_svc_agree(kernel):
    data = datasets.load("two_moons", n=80, n_test=50)
    svc, machine, estimator = fit(data.X_train, data.y_train, kernel, 10.0, "scale", 3)
    expected = estimator.decision_function(data.X_test)
    np.testing.assert_allclose(
        machine.decision_function(data.X_test), expected, rtol=1e-9, atol=1e-9
    )
    assert machine.n_vectors == len(svc.support_)
    assert machine.vectors.shape == (machine.n_vectors, 2)
