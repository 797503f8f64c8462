"""One output a class from one a pair, beside scikit-learn's own."""

import numpy as np
import pytest
from sklearn.utils.multiclass import _ovr_decision_function

from kmviz.machines.votes import by_votes


@pytest.mark.parametrize("n_classes", [2, 3, 4, 10])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_as_scikit_learn_aggregates(n_classes, dtype):
    rng = np.random.default_rng(n_classes)
    outputs = rng.normal(size=(50, n_classes * (n_classes - 1) // 2)).astype(dtype)
    outputs[:5] = 0.0
    outputs[5:10] = np.sign(outputs[5:10])
    expected = _ovr_decision_function(outputs < 0, -outputs, n_classes)
    np.testing.assert_allclose(by_votes(outputs, n_classes), expected, rtol=1e-6, atol=1e-6)
    assert by_votes(outputs[:0], n_classes).shape == (0, n_classes)


def test_a_tie_of_votes_goes_to_the_larger_sum():
    circle = np.array([[2.0, -1.0, 1.5]])  # 0 beats 1, 2 beats 0, 1 beats 2
    votes = by_votes(circle, 3)
    np.testing.assert_allclose(votes, [[1 + 1 / 6, 1 - 0.5 / 4.5, 1 - 0.5 / 4.5]])
    assert votes.argmax() == 0
