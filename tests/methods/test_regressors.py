"""Regressors on a trained machine: scikit-learn's contract, and the tolerance."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from kmviz import AnytimeRegressor, ExactRegressor, ReducedSetRegressor
from kmviz.kernels import RBF
from kmviz.machines.reading import read_value

X, Y = make_friedman1(160, n_features=5, random_state=0)
SVRS = SVR(C=10.0).fit(X[:80], Y[:80])


def not_ours(estimator):
    """SVR itself fails it: gamma="scale" looks at the rows, not at their weights."""
    found = ["check_sample_weight_equivalence_on_dense_data"]
    if isinstance(estimator, ExactRegressor):
        found.append("check_sample_weight_equivalence_on_sparse_data")
    return dict.fromkeys(found, "SVR's default gamma does not see weights")


@parametrize_with_checks(
    [ExactRegressor(), AnytimeRegressor(), ReducedSetRegressor()], expected_failed_checks=not_ours
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
def test_ridge_and_svr_are_read_as_they_answer(kernel):
    for fitted in (SVR(kernel=kernel), KernelRidge(kernel=kernel, alpha=0.5)):
        fitted.fit(X[:80], Y[:80])
        np.testing.assert_allclose(
            read_value(fitted).decision_function(X), fitted.predict(X), 1e-6, 1e-6
        )


class Vouched:
    """A kernel that loops do not know."""

    is_mercer = True

    def __call__(self, A, B):
        return RBF(0.2)(A, B)

    def diag(self, A):
        return RBF(0.2).diag(A)


@pytest.mark.parametrize("tolerance", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("kernel", [RBF(0.2), Vouched()])
def test_no_value_is_further_off_than_the_tolerance(kernel, tolerance):
    svr = SVR(C=10.0, kernel=kernel).fit(X[:80], Y[:80])
    fast = AnytimeRegressor(FrozenEstimator(svr), tolerance=tolerance).fit(X[80:])
    assert np.abs(fast.predict(X) - svr.predict(X)).max() <= tolerance + 1e-9
    lower, upper = fast.bounds(X)
    exact = fast.exact_function(X)[:, None]
    assert ((lower <= exact) & (exact <= upper)).all()
    steps = fast.steps(X)
    assert steps.max() <= fast.machine_.n_vectors
    assert fast.trace(X[100]).output == fast.predict(X[100:101])[0]


def test_a_wider_tolerance_takes_fewer_kernel_values():
    steps = [AnytimeRegressor(FrozenEstimator(SVRS), tolerance=t).fit(X).steps(X).mean()
             for t in (0.01, 1.0, 5.0)]  # fmt: skip
    assert steps[0] > steps[1] > steps[2]


def test_fewer_vectors_say_nearly_the_same():
    fast = ReducedSetRegressor(FrozenEstimator(SVRS), n_vectors=40).fit(X)
    assert fast.machine_.n_vectors == 40
    assert fast.original_.n_vectors == len(SVRS.support_)
    few = ReducedSetRegressor(FrozenEstimator(SVRS), n_vectors=5).fit(X)
    assert fast.rho_ < few.rho_
    off = [np.abs(one.predict(X) - SVRS.predict(X)).mean() for one in (fast, few)]
    assert off[0] < off[1]


def test_weights_of_rows_reach_the_last_step():
    weight = np.linspace(0.1, 3.0, 80)
    model = make_pipeline(StandardScaler(), SVR())
    fast = ExactRegressor(model).fit(X[:80], Y[:80], sample_weight=weight)
    right = model.fit(X[:80], Y[:80], svr__sample_weight=weight)
    np.testing.assert_allclose(fast.predict(X), right.predict(X), atol=1e-4)
    from sklearn.neighbors import KNeighborsRegressor

    with pytest.raises(TypeError, match="takes no sample_weight"):
        ExactRegressor(KNeighborsRegressor()).fit(X, Y, sample_weight=np.ones(160))
