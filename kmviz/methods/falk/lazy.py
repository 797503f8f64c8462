"""kNNSVM (section 3.3): an SVM trained on the neighbourhood of each query when it comes.

With k = N it is the SVM on all data; with k = 2 and a linear or RBF kernel the 1-NN rule. With
`tune`, C and the width are chosen inside the neighbourhood of each query (definitions 3 and 4).
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from kmviz.methods.falk.local import KERNEL_CONSTRAINTS, LocalClassifier, chunks_of
from kmviz.methods.falk.models import LocalModels, stacked
from kmviz.methods.falk.neighbors import search_rows, search_threads
from kmviz.methods.falk.selection import PERCENTILES, choose_each
from kmviz.methods.falk.training import LOCAL, is_radial, scaled, train_models

MEDIAN = 50.0


class KNNSVMClassifier(LocalClassifier):
    """The lazy local SVM: accurate, and slow to answer, for every query trains a model.

    Parameters
    ----------
    n_neighbors : int, default=100
        k, the points around the query that its SVM is trained on.
    kernel : {"rbf", "linear", "poly"} or kernel, default="rbf"
    C : float, default=1.0
    gamma : {"scale", "auto", "local"} or float, default="scale"
        "local" takes the median of squared distances in the neighbourhood as 1 / gamma.
    degree, coef0 : int and float, default=3 and 0.0
        Of `kernel="poly"`, as in `SVC`.
    tune : {"neighborhood", "inner"}, default=None
        Choose C among 1, 4, 16 and 64 and, with RBF kernels, 1 / gamma among the 1st, 10th, 50th
        and 90th percentile of squared distances, for each query by 5-fold cross-validation:
        "neighborhood" on all its k points (definition 3), "inner" on the `n_inner` nearest of them
        (definition 4). `C` and `gamma` are then not read. Eighty small SVMs a query.
    n_inner : int, default=None
        k' of definition 4, less than k; None is half of k. Read with `tune="inner"` only.

    Attributes
    ----------
    overhead_ : float
        What a query costs beside its model's vectors: the search, and the k^2 kernel values that
        training may touch, for each width tried.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kmviz import KNNSVMClassifier
    >>> X, y = make_moons(500, noise=0.2, random_state=0)
    >>> clf = KNNSVMClassifier(n_neighbors=50).fit(X[:400], y[:400])
    >>> bool(clf.score(X[400:], y[400:]) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        **KERNEL_CONSTRAINTS,
        "tune": [StrOptions({"neighborhood", "inner"}), None],
        "n_inner": [Interval(Integral, 1, None, closed="left"), None],
    }

    overhead_: float

    def __init__(
        self, n_neighbors: int = 100, kernel: Any = "rbf", C: float = 1.0,
        gamma: float | str = "scale", degree: int = 3, coef0: float = 0.0, tune: str | None = None,
        n_inner: int | None = None,
    ) -> None:  # fmt: skip
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tune = tune
        self.n_inner = n_inner

    def fit(self, X: ArrayLike, y: ArrayLike) -> KNNSVMClassifier:
        """Keep and index the training rows.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,)
        """
        self._validate_params()
        if self.tune == "inner" and self.n_inner is not None and self.n_inner >= self.n_neighbors:
            raise ValueError(
                f"n_inner={self.n_inner} must be less than n_neighbors={self.n_neighbors}: the "
                "points beyond it are in every training fold. Lower n_inner, or take "
                "tune='neighborhood'."
            )
        self._read(X, y, 0)
        self.n_neighbors_ = min(self.n_neighbors, len(self.rows_))
        n_widths = len(PERCENTILES) if self.tune and is_radial(self.kernel_) else 0
        trained = (1 + n_widths) * float(self.n_neighbors_) ** 2
        self.overhead_ = self.index_.overhead + trained
        return self

    def steps(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return how many kernel values each row's answer takes: its own model's vectors."""
        rows = self._rows(X)
        found = [self._models_for(part) for part in chunks_of(rows)]
        return np.concatenate([models.sizes()[which] for models, which, _ in found])

    def _outputs(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        return np.concatenate([super(KNNSVMClassifier, self)._outputs(r) for r in chunks_of(rows)])

    def _models_for(self, X: NDArray[Any]) -> tuple[LocalModels, NDArray[Any], NDArray[Any]]:
        searched = search_rows(self.kernel_, X)
        if (
            self.n_neighbors_ == len(self.rows_) and not self.tune
        ):  # every query has the same neighbourhood
            nearest = self.index_.query(searched, 1)[:, 0]
            everything = np.arange(self.n_neighbors_, dtype=np.int32)[None]
            return self._train(everything), np.zeros(len(X), dtype=np.intp), nearest
        n_jobs = search_threads(self.n_jobs, len(X))
        neighbors = self.index_.query(searched, self.n_neighbors_, n_jobs)
        if self.tune:
            return (*self._tuned(neighbors), neighbors[:, 0])
        return self._train(neighbors), np.arange(len(X)), neighbors[:, 0]

    def _tuned(self, neighbors: NDArray[np.int32]) -> tuple[LocalModels, NDArray[np.intp]]:
        """Choose C and width for each neighbourhood; returns models and which is whose."""
        k = self.n_neighbors_
        inner = k if self.tune == "neighborhood" else min(self.n_inner or max(1, k // 2), k)
        chosen = choose_each(
            scaled(self.embedded_, self._unit), self.labels_, neighbors, self.kernel_, inner,
            search_threads(self.n_jobs, len(neighbors)),
        )  # fmt: skip
        settings, group = np.unique(chosen, axis=0, return_inverse=True)
        group = group.ravel()
        gamma = LOCAL if is_radial(self.kernel_) else self.gamma_
        models = stacked(
            [
                self._train(neighbors[group == g], float(C), gamma, float(percentile))
                for g, (C, percentile) in enumerate(settings)
            ]
        )
        which = np.empty(len(neighbors), dtype=np.intp)
        which[np.argsort(group, kind="stable")] = np.arange(len(neighbors))
        return models, which

    def _train(
        self, neighbors: NDArray[np.int32], C: float | None = None, gamma: float | None = None,
        percentile: float = MEDIAN,
    ) -> LocalModels:  # fmt: skip
        models = train_models(
            self.embedded_, self.labels_, len(self.classes_), neighbors, self.kernel_,
            self.gamma_ if gamma is None else gamma, percentile,
            float(self.C if C is None else C), self.n_jobs, self._unit,
        )  # fmt: skip
        self._warn_of_short(models, 5)
        return models

    def _centers_of(self, models: NDArray[Any], nearest: NDArray[Any]) -> NDArray[Any]:
        return np.full(len(models), -1)
