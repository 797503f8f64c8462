"""Rows added to a trained FaLK-SVM (`partial_fit`): beyond the paper, see `insertion`."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from kmviz.methods.base import FLOATS
from kmviz.methods.falk.cluster import local_threads
from kmviz.methods.falk.cover import Cover
from kmviz.methods.falk.insertion import cover_again, insert
from kmviz.methods.falk.local import LocalClassifier
from kmviz.methods.falk.models import LocalModels, spliced
from kmviz.methods.falk.neighbors import EuclideanIndex
from kmviz.methods.falk.training import refuse_overflow, train_models, unit_of, width_of


class GrowingClassifier(LocalClassifier):
    """Base of the local SVMs that are trained ahead of the queries, and go on learning.

    A subclass fits (`_fit`), cuts k and k' to the rows (`_settle`) and takes covers (`_keep`).
    """

    n_neighbors: int | str
    tune: bool
    models_: LocalModels
    centers_: NDArray[np.integer]
    center_of_: NDArray[np.integer]
    rank_: NDArray[np.integer]
    turn_: NDArray[np.int32]
    reach_: NDArray[np.float64]
    n_cover_: int
    C_: float
    percentile_: float
    cells_: Any

    def _fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Any:
        raise NotImplementedError

    def _settle(self, k: int) -> None:
        raise NotImplementedError

    def _keep(self, cover: Cover) -> None:
        raise NotImplementedError

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Any:
        """Add training rows; only models whose neighbourhood they change are trained again.

        The result is that of a fit of all rows which are offered as centres in the order of the
        first call, then as they came. What the first call settled stays: k, C and percentile
        where they were chosen, the width of `gamma="scale"`, the axes of a projection. Kernels
        whose neighbourhoods are not Euclidean (`kernel="poly"`) are refused.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,)
        classes : array, default=None
            All classes that will ever come. Needed in the first call, unless `fit` was called.

        Notes
        -----
        A row falls into some M k / N neighbourhoods, so that n rows from everywhere change a share
        of about 1 - (1 - k / N)^n of the models; rows that come from one place change few.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from kmviz import FaLKClassifier
        >>> X, y = make_moons(2000, noise=0.2, random_state=0)
        >>> clf = FaLKClassifier(n_neighbors=100, random_state=0)
        >>> for part in (slice(0, 500), slice(500, 1000)):
        ...     clf = clf.partial_fit(X[part], y[part], classes=[0, 1])
        >>> bool(clf.score(X[1000:], y[1000:]) > 0.95)
        True
        """
        if self.cells_ is not None:
            raise ValueError("Cells take no more rows: call fit with all of them.")
        if not hasattr(self, "models_"):
            if classes is None:
                raise ValueError("classes must name all classes in the first call of partial_fit.")
            return self._fit(X, y, classes)
        self._validate_params()
        if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes={np.unique(classes).tolist()} are not those of the first call, "
                f"{self.classes_.tolist()}."
            )
        other = copy(self)
        other._insert(*self._more(X, y))
        self.__dict__.update(other.__dict__)  # all or nothing
        return self

    def _more(self, X: Any, y: Any) -> tuple[NDArray[Any], NDArray[np.int32]]:
        """Check rows that are added; returns them and the codes of their classes."""
        if not hasattr(self, "turn_") or not isinstance(self.index_, EuclideanIndex):
            raise ValueError(
                "partial_fit needs Euclidean neighbourhoods (kernel='rbf' or 'linear') and a model "
                "trained by this version of kmviz: call fit with all rows."
            )
        X, y = validate_data(self, X, y, reset=False, dtype=FLOATS)
        check_classification_targets(y)
        refuse_overflow(self.kernel_, X)
        width = width_of(np.concatenate([X, self.rows_[self.centers_]]))
        if unit_of(width, self.kernel_) != self._unit:
            raise ValueError(
                f"With these rows X is {width:.0e} wide, out of range of what the first call saw: "
                "call fit with all rows."
            )
        return X.astype(self.rows_.dtype, copy=False), self._codes(y)

    def _insert(self, X: NDArray[Any], labels: NDArray[np.int32]) -> None:
        n, rows = len(self.rows_), np.concatenate([self.rows_, X])
        before = Cover(self.centers_, np.empty((0, 0)), self.center_of_, self.rank_)

        def more(known: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
            return rows if known is self.rows_ else np.concatenate([known, new])

        self.index_ = self.index_.grown(more(self.index_.rows, self._searched(X)))
        self.embedded_ = more(self.embedded_, self._embedded(X))
        self.labels_ = more(self.labels_, labels)
        self.turn_ = more(self.turn_, np.arange(n, n + len(X), dtype=np.int32))
        self.rows_ = rows
        k, n_cover = self.n_neighbors_, self.n_cover_
        if k == n:  # cut to the rows that were there
            self._settle(k if self.tune or self.n_neighbors == "auto" else int(self.n_neighbors))
        sizes = self.n_neighbors_, self.n_cover_, local_threads(self.n_jobs)
        if (k, n_cover) == sizes[:2]:
            grown = insert(self.index_, self.turn_, before, self.reach_, *sizes)
        else:
            before.centers = before.centers[:0]  # no model stays
            grown = cover_again(self.index_, self.turn_, before, *sizes)
        cover, reused = grown.cover, grown.reused
        new = self._train(cover.neighbors)
        self.models_ = spliced(self.models_, new, reused)
        self.reach_ = self.reach_[reused]
        self.reach_[reused < 0] = self._reaches(cover.centers[reused < 0], cover.neighbors)
        self._keep(cover)
        self._warn_of_short(new, 3)

    def _train(self, neighbors: NDArray[np.int32]) -> LocalModels:
        return train_models(
            self.embedded_, self.labels_, len(self.classes_), neighbors, self.kernel_, self.gamma_,
            float(self.percentile_), float(self.C_), self.n_jobs, self._unit,
        )  # fmt: skip

    def _reaches(self, centers: NDArray[Any], neighbors: NDArray[Any]) -> NDArray[np.float64]:
        rows = self.index_.rows
        if not isinstance(self.index_, EuclideanIndex):
            return np.zeros((len(centers), 2))
        ends = rows[neighbors[:, [self.n_cover_ - 1, -1]]].astype(np.float64)
        return np.linalg.norm(ends - rows[centers][:, None], axis=2)
