"""Noise reduction with local SVMs: FkNNSVM-nr (N. Segata, E. Blanzieri, S. J. Delany, P.
Cunningham. Noise reduction for instance-based learning with a local maximal margin approach. 2009)
and FaLKNR, its fast form (table 1 of the FaLK-SVM paper).

A training point whose class differs from the answer of the local SVM around it is noise.
`"knnsvm"` trains one SVM a point, on the k nearest *other* points; `"falk"` asks the model of the
centre that the point belongs to, trained with it.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import Interval, StrOptions

from kmviz.methods.falk.classifier import FaLKClassifier
from kmviz.methods.falk.lazy import KNNSVMClassifier
from kmviz.methods.falk.local import KERNEL_CONSTRAINTS, chunks_of


class LocalNoiseReducer(BaseEstimator):
    """Remove training points that contradict the local SVM around them.

    Parameters
    ----------
    method : {"falk", "knnsvm"}, default="falk"
        "knnsvm" trains a model a point and leaves the point itself out; "falk" is many times
        faster.
    n_neighbors : int, default=100
        k of the local SVMs.
    kernel, C, gamma, degree, coef0 : as in `FaLKClassifier`
    n_jobs : int, default=None
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    sample_indices_ : array
        The rows kept.
    noise_ : array of bool
        The rows removed.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz import LocalNoiseReducer
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> y = (X[:, 0] > 0.5).astype(int)
    >>> y[[10, 90]] = 1 - y[[10, 90]]
    >>> reducer = LocalNoiseReducer(n_neighbors=20, gamma="local", random_state=0)
    >>> X_clean, y_clean = reducer.fit_resample(X, y)
    >>> np.flatnonzero(reducer.noise_)
    array([10, 90])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "method": [StrOptions({"falk", "knnsvm"})],
        "n_neighbors": [Interval(Integral, 2, None, closed="left")],
        **KERNEL_CONSTRAINTS,
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self, method: str = "falk", n_neighbors: int = 100, kernel: Any = "rbf", C: float = 1.0,
        gamma: float | str = "scale", n_jobs: int | None = None, random_state: Any = None,
        degree: int = 3, coef0: float = 0.0,
    ) -> None:  # fmt: skip
        self.method = method
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.degree = degree
        self.coef0 = coef0

    def fit_resample(self, X: ArrayLike, y: ArrayLike) -> tuple[Any, Any]:
        """Return X and y without the rows found to be noise.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d)
        y : array of shape (n,)
        """
        self._validate_params()
        self.noise_ = self._by_falk(X, y) if self.method == "falk" else self._by_knnsvm(X, y)
        self.sample_indices_ = np.flatnonzero(~self.noise_)
        return _safe_indexing(X, self.sample_indices_), _safe_indexing(y, self.sample_indices_)

    def _by_falk(self, X: ArrayLike, y: ArrayLike) -> NDArray[Any]:
        local = FaLKClassifier(
            self.n_neighbors, kernel=self.kernel, C=self.C, gamma=self.gamma, n_jobs=self.n_jobs,
            random_state=self.random_state, degree=self.degree, coef0=self.coef0,
        ).fit(X, y)  # fmt: skip
        return local.contradicted()

    def _by_knnsvm(self, X: ArrayLike, y: ArrayLike) -> NDArray[Any]:
        lazy = KNNSVMClassifier(
            self.n_neighbors, kernel=self.kernel, C=self.C, gamma=self.gamma, degree=self.degree,
            coef0=self.coef0,
        ).fit(X, y)  # fmt: skip
        lazy.n_jobs = self.n_jobs
        k = min(self.n_neighbors + 1, len(lazy.rows_))
        outputs = []
        for points in chunks_of(np.arange(len(lazy.rows_), dtype=np.int32)):
            neighbors = lazy.index_.query(lazy.index_.rows[points], k)
            models = lazy._train(_without(neighbors, points))
            which = np.arange(len(points))
            outputs.append(lazy._evaluate(models, which, lazy.rows_[points]))
        return lazy.winners(np.concatenate(outputs)) != lazy.labels_


def _without(neighbors: NDArray[np.int32], points: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return neighbourhoods without the points that they are of; a copy of a point stays."""
    is_point = neighbors == points[:, None]
    is_point[~is_point.any(axis=1), -1] = True  # crowded out by its copies: drop the farthest
    return neighbors[~is_point].reshape(len(points), -1)
