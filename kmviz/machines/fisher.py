"""Kernel Fisher discriminant: a kernel machine in which every training row has a weight.

Mika, Raetsch, Weston, Schoelkopf and Mueller (1999), "Fisher discriminant analysis with
kernels": maximise (a'(M1 - M0))^2 / a'(N + mu I)a, solved by a = (N + mu I)^-1 (M1 - M0).
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kmviz.kernels import RBF
from kmviz.machines.machine import KernelMachine


class KernelFisherClassifier(ClassifierMixin, BaseEstimator):
    """Kernel Fisher discriminant for two classes.

    Parameters
    ----------
    kernel : callable, default=None
        A kernel of `kmviz.kernels`. None is `RBF(1 / (d var(X)))`, scikit-learn's "scale".
    regularization : float, default=1e-3
        mu of the paper, as a share of the mean diagonal of the within-class matrix N.

    Attributes
    ----------
    machine_ : KernelMachine
    classes_ : array of shape (2,)

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kmviz.machines import KernelFisherClassifier
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> KernelFisherClassifier().fit(X, y).score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [callable, None],
        "regularization": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(self, kernel: Any = None, regularization: float = 1e-3) -> None:
        self.kernel = kernel
        self.regularization = regularization

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> KernelFisherClassifier:
        """Solve for the weights; the bias is the midpoint of the two projected means."""
        self._validate_params()
        rows, labels = validate_data(self, X, y, dtype=[np.float64, np.float32])
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(
                "Only binary classification is supported. The target has "
                f"{len(self.classes_)} class(es); wrap the classifier in OneVsRestClassifier."
            )
        kernel = self.kernel or RBF(1.0 / (rows.shape[1] * (rows.var() or 1.0)))
        K = np.asarray(kernel(rows, rows), dtype=np.float64)
        beta, bias = self._solve(K, codes)
        self.machine_ = KernelMachine(rows, beta, bias, kernel)
        return self

    def _solve(
        self, K: NDArray[np.float64], codes: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], float]:
        """Return the weights and the bias."""
        beta, means = discriminant(*moments(K, codes), self.regularization, (1.0, 1.0))
        return beta, float(np.mean(means))

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the signed distance from the midpoint, positive for `classes_[1]`."""
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return self.machine_.decision_function(rows)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(np.intp)]


def moments(
    K: NDArray[np.float64], codes: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the class means of the kernel's columns, (2, n), and what they scatter, (2, n, n)."""
    centers, within = np.empty((2, len(K))), np.empty((2, len(K), len(K)))
    for c in (0, 1):
        columns = K[:, codes == c]
        centers[c] = columns.mean(axis=1)
        centered = columns - centers[c][:, None]
        within[c] = centered @ centered.T / len(K)
    return centers, within


def discriminant(
    centers: NDArray[np.float64],
    within: NDArray[np.float64],
    regularization: float,
    shares: tuple[float, float],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weights that part the means best for the scatter, and the projected means."""
    whole = shares[0] * within[0] + shares[1] * within[1]
    whole[np.diag_indices_from(whole)] += regularization * max(np.trace(whole) / len(whole), 1e-12)
    beta = cho_solve(cho_factor(whole), centers[1] - centers[0])
    means = centers @ beta
    spread = means[1] - means[0]
    scale = 2.0 / spread if spread > 0 else 1.0  # the class means stand at about -1 and +1
    return beta * scale, means * scale
