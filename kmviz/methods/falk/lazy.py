"""kNNSVM (section 3.3): an SVM trained on the neighbourhood of each query when it comes.

With k = N it is the SVM on all data; with k = 2 and a linear or RBF kernel the 1-NN rule.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval

from kmviz.methods.falk.cluster import local_threads
from kmviz.methods.falk.local import KERNEL_CONSTRAINTS, LocalClassifier
from kmviz.methods.falk.models import LocalModels, train_models
from kmviz.methods.falk.neighbors import search_rows

#: Queries whose models are held at a time.
CHUNK = 4096
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

    Attributes
    ----------
    overhead_ : float
        What a query costs beside its model's vectors: the search, and the k^2 kernel values that
        training may touch.

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
    }

    def __init__(
        self, n_neighbors: int = 100, kernel: Any = "rbf", C: float = 1.0,
        gamma: float | str = "scale", degree: int = 3, coef0: float = 0.0,
    ) -> None:  # fmt: skip
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: ArrayLike, y: ArrayLike) -> KNNSVMClassifier:
        """Keep and index the training rows.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,)
        """
        self._validate_params()
        self._read(X, y, 0)
        self.n_neighbors_ = min(self.n_neighbors, len(self.rows_))
        self.overhead_ = self.index_.overhead + float(self.n_neighbors_) ** 2
        return self

    def steps(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return how many kernel values each row's answer takes: its own model's vectors."""
        rows = self._rows(X)
        found = [self._local(part) for part in _parts(rows)]
        return np.concatenate([models.sizes()[which] for models, which, _ in found])

    def _outputs(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        return np.concatenate([super(KNNSVMClassifier, self)._outputs(r) for r in _parts(rows)])

    def _local(self, X: NDArray[Any]) -> tuple[LocalModels, NDArray[Any], NDArray[Any]]:
        searched = search_rows(self.kernel_, X)
        if self.n_neighbors_ == len(self.rows_):  # every query has the same neighbourhood
            nearest = self.index_.query(searched, 1)[:, 0]
            everything = np.arange(self.n_neighbors_, dtype=np.int32)[None]
            return self._train(everything), np.zeros(len(X), dtype=np.intp), nearest
        n_jobs = local_threads(self.n_jobs, len(X))
        neighbors = self.index_.query(searched, self.n_neighbors_, n_jobs)
        return self._train(neighbors), np.arange(len(X)), neighbors[:, 0]

    def _train(self, neighbors: NDArray[np.int32]) -> LocalModels:
        models = train_models(
            self.embedded_, self.labels_, len(self.classes_), neighbors, self.kernel_,
            self.gamma_, MEDIAN, float(self.C), self.n_jobs, self._unit,
        )  # fmt: skip
        self._warn_of_short(models, 5)
        return models

    def _centers(self, models: NDArray[Any], nearest: NDArray[Any]) -> NDArray[Any]:
        return np.full(len(models), -1)


def _parts(rows: NDArray[Any]) -> list[NDArray[Any]]:
    return [rows[s : s + CHUNK] for s in range(0, len(rows), CHUNK)]
