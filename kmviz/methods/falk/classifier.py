"""FaLK-SVM, FaLK-SVMc and FaLK-SVMl (section 4): local SVMs trained ahead of the queries.

Training covers the data with k'-neighbourhoods (section 4.2.1) and trains an SVM on the k nearest
points of each centre. A query goes to the centre that its nearest training point belongs to
(FaLK-SVM, eq. 12) or to the nearest centre (FaLK-SVMc, eq. 10). With `tune`, k, C and the width
come from cross-validation inside some neighbourhoods (FaLK-SVMl, definition 5).

Departures. The random order of algorithm 1 is the default, not the cover tree's: it takes 3 to 26%
more centres, far less time, and is as accurate. Neighbours come from a kd-tree where distances are
Euclidean. k and k' larger than the data are cut to it. More than two classes are answered one
against one inside each neighbourhood; a model holds the pairs of the classes that it saw. Training
takes O(N + |C| k) of memory, not the O(N + k^2) of section 4.5: all centres' neighbourhoods are
found before the first model is trained, so that models can be trained in blocks on many cores. They
are released before `fit` returns; the rows and the support vectors stay. `partial_fit` goes beyond
the paper, whose training set is fixed: all rows are covered again, and models whose neighbourhood
holds no new row stay.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from kmviz.machines.soundness import shaped, within
from kmviz.methods.base import FLOATS
from kmviz.methods.falk.cover import Cover, find_cover
from kmviz.methods.falk.local import KERNEL_CONSTRAINTS, LocalClassifier
from kmviz.methods.falk.models import LocalModels, spliced
from kmviz.methods.falk.neighbors import cover_order, search_threads
from kmviz.methods.falk.selection import (
    Grid,
    Neighborhood,
    best_row,
    choose_parameters,
    inner_of,
    neighborhoods,
    sizes_for,
)
from kmviz.methods.falk.study import FaLKStudy
from kmviz.methods.falk.training import (
    LOCAL,
    is_radial,
    refuse_overflow,
    scaled,
    train_models,
    unit_of,
    width_of,
)
from kmviz.traces import LocalModel

#: A class with at most this many members is checked for being outvoted everywhere.
TINY_CLASS = 10


class FaLKClassifier(LocalClassifier):
    """Fast local kernel SVM.

    Parameters
    ----------
    n_neighbors : int or "auto", default=250
        k, the points each local SVM is trained on. "auto" chooses k, C and the width.
    n_cover : int, default=None
        k' <= k, the points around a centre that it answers for; None is half of k. Fewer cost
        more models and give more accuracy.
    kernel : {"rbf", "linear", "poly"} or kernel, default="rbf"
        Neighbourhoods are taken in its feature space. Of a kernel that is not kmviz's own,
        neighbourhoods are Euclidean.
    C : float, default=1.0
    gamma : {"scale", "auto", "local"} or float, default="scale"
        As in `SVC`; "local" gives each model its own width, see `percentile`.
    percentile : float, default=50
        With `gamma="local"`: 1 / gamma is this percentile of the squared distances in the
        neighbourhood. Low ones (1 to 10) often do better than the median.
    select : {"point", "center"}, default="point"
        FaLK-SVM: the centre of the nearest training point. FaLK-SVMc: the nearest centre, faster
        and a little less accurate.
    tune : bool, default=False
        FaLK-SVMl: choose k among 1, 2, 4 and 8 times `n_neighbors`, C among 1, 4, 16 and 64 and
        the percentile among 1, 10, 50 and 90 by cross-validation inside ten neighbourhoods or
        more, until a fifth of the rows (20,000 at most) have been held out. Where the least error
        stands at an end of C or of the percentile, smaller or larger ones are tried as well.
        `C`, `gamma` and `percentile` are then not read.
    cover : {"random", "tree"}, default="random"
        The order in which points are offered as centres (algorithm 1, eq. 9).
    n_jobs : int, default=None
        Threads, or workers of the backend that `joblib.parallel_config` names. The model does not
        depend on it.
    random_state : int, RandomState or None, default=None
    projection : int or "auto", default=None
        Search neighbours among this many principal components, Euclidean distances between them;
        the local SVMs see all coordinates. Beyond the paper, whose neighbours are exact. "auto"
        asks probe queries of some training rows: where the plain search visits most of them, it
        takes as many components as leave it with a tenth, 16 at most; elsewhere, and for kernels
        whose neighbourhoods are not Euclidean, it changes nothing. `axes_` has them, or is None.
    degree, coef0 : int and float, default=3 and 0.0
        Of `kernel="poly"`, as in `SVC`.

    Attributes
    ----------
    centers_ : array of shape (M,)
        Training rows that are centres.
    center_of_ : array of shape (N,)
        The place in `centers_` of each training row's centre (eq. 11).
    models_ : LocalModels
        The local SVMs, in flat arrays.
    n_neighbors_, n_cover_, C_, percentile_ : the values in use
    selection_ : dict of arrays
        With `tune` or "auto": the error of each `n_neighbors`, `C` and `percentile` tried.

    Notes
    -----
    A class with very few members can be outvoted in every neighbourhood; `fit` warns of a class
    of ten or fewer none of whose own members it recognises. Locality needs neighbours: with many
    irrelevant dimensions a global machine is the better choice.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kmviz import FaLKClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> clf = FaLKClassifier(n_neighbors=100, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(clf.score(X[1000:], y[1000:]) > 0.95)
    True
    >>> bool(len(clf.centers_) < 100)
    True
    """

    centers_: NDArray[np.integer]
    center_of_: NDArray[np.integer]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_cover": [Interval(Integral, 1, None, closed="left"), None],
        **KERNEL_CONSTRAINTS,
        "percentile": [Interval(Real, 0.0, 100.0, closed="both")],
        "select": [StrOptions({"point", "center"})],
        "tune": ["boolean"],
        "cover": [StrOptions({"random", "tree"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "projection": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
    }
    study_class = FaLKStudy

    def __init__(
        self, n_neighbors: int | str = 250, n_cover: int | None = None, kernel: Any = "rbf",
        C: float = 1.0, gamma: float | str = "scale", percentile: float = 50,
        select: str = "point", tune: bool = False, cover: str = "random",
        n_jobs: int | None = None, random_state: Any = None,
        projection: int | str | None = None,
        degree: int = 3, coef0: float = 0.0,
    ) -> None:  # fmt: skip
        self.n_neighbors = n_neighbors
        self.n_cover = n_cover
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.percentile = percentile
        self.select = select
        self.tune = tune
        self.cover = cover
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.projection = projection
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: ArrayLike, y: ArrayLike) -> FaLKClassifier:
        """Cover the training set and train the local SVMs.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,)
        """
        return self._fit(X, y)

    def _fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> FaLKClassifier:
        self._validate_params()
        k, n_cover = self.n_neighbors, self.n_cover
        if isinstance(k, Integral) and n_cover is not None and n_cover > k:
            raise ValueError(
                f"n_cover={n_cover} is larger than n_neighbors={k}: a model "
                "cannot answer for points it was not trained on. Lower n_cover or leave it None."
            )
        seed = self._read(X, y, self.random_state, classes)
        self._choose(seed)
        cover = self._cover(self._order(seed))
        self.models_ = self._train(cover.neighbors)
        self._set_cover(cover)
        self._warn()
        return self

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> FaLKClassifier:
        """Add training rows; only models whose neighbourhood they change are trained again.

        The result is that of a fit of all rows that offers the centres of before first, in their
        order, and then the other rows in theirs. What the first call settled stays: k, C and
        percentile where they were chosen, the width of `gamma="scale"`, the axes of a projection.
        Where rows stand at equal distances from a centre, which of them are its neighbours may
        differ.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,)
        classes : array, default=None
            All classes that will ever come. Needed in the first call, unless `fit` was called.

        Notes
        -----
        A row falls into some M k / N neighbourhoods, so that n rows from everywhere change a share
        of about 1 - (1 - k / N)^n of the models; rows that come from one place change few. The
        cover is found anew each time: add rows in batches.

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
        extended = copy(self)
        extended._extend(*self._checked_more(X, y))
        self.__dict__.update(extended.__dict__)  # all or nothing
        return self

    def _checked_more(self, X: Any, y: Any) -> tuple[NDArray[Any], NDArray[np.int32]]:
        """Check rows to add; returns them and the codes of their classes."""
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

    def _extend(self, X: NDArray[Any], labels: NDArray[np.int32]) -> None:
        """Cover all rows again and train the models whose neighbourhood is another one."""
        before, n_before, k_before = self.centers_, len(self.rows_), self.n_neighbors_
        rows, labels = np.concatenate([self.rows_, X]), np.concatenate([self.labels_, labels])
        self._index_rows(rows, labels, 0)
        if k_before == n_before:  # k was cut to the rows that were there
            is_chosen = self.tune or self.n_neighbors == "auto"
            self._set_sizes(k_before if is_chosen else int(self.n_neighbors))
        cover = self._cover(np.concatenate([before, np.setdiff1d(np.arange(len(rows)), before)]))
        number = np.full(len(rows), -1)
        if self.n_neighbors_ == k_before:
            number[before] = np.arange(len(before))
        is_old = (cover.neighbors < n_before).all(axis=1)
        reused = np.where(is_old, number[cover.centers], -1)
        if (reused < 0).any():
            trained = self._train(cover.neighbors[reused < 0])
            self.models_ = spliced(self.models_, trained, reused)
            self._warn_of_short(trained, 3)
        self._set_cover(cover)

    def _choose(self, seed: int) -> None:
        """Set k, k', C and the percentile (definition 5 with `tune`)."""
        self.C_, self.percentile_ = self.C, self.percentile
        k, n = self.n_neighbors, len(self.rows_)
        if self.tune or k == "auto":
            if is_radial(self.kernel_):
                self.gamma_ = LOCAL
            grid = Grid(
                self._random_neighborhoods(seed), n, self.kernel_, self.n_cover, self.n_jobs
            )
            tried = choose_parameters(grid, sizes_for(k, n))
            self.selection_ = {name: tried[name].to_numpy() for name in tried}
            best = best_row(tried)
            k, self.C_ = int(best["n_neighbors"]), float(best["C"])
            if is_radial(self.kernel_):
                self.percentile_ = float(best["percentile"])
        self._set_sizes(int(k))

    def _random_neighborhoods(self, seed: int) -> Callable[[int, int], list[Neighborhood]]:
        """Return a function of m and k: the neighbourhoods of m random rows, k rows each."""
        rows, index = scaled(self.embedded_, self._unit), self.index_
        shuffled = np.random.default_rng(seed).permutation(len(rows))

        def some(m: int, k: int) -> list[Neighborhood]:
            near = index.query(index.rows[shuffled[:m]], k)
            return neighborhoods(rows, self.labels_, near)

        return some

    def _set_sizes(self, k: int) -> None:
        """Set k and k', cut to the rows."""
        n = len(self.rows_)
        self.n_neighbors_ = k = min(k, n)
        # where every neighbourhood is the whole set, one model will do
        self.n_cover_ = n if k == n else inner_of(k, self.n_cover)

    def _order(self, seed: int) -> NDArray[np.intp]:
        """Return the rows in the order in which they are offered as centres."""
        if self.cover == "tree":
            return cover_order(self.index_.rows, self.index_, seed)
        return np.random.default_rng(seed).permutation(len(self.rows_))  # algorithm 1, line 5

    def _cover(self, order: NDArray[np.intp]) -> Cover:
        """Cover the rows with k'-neighbourhoods, offering them as centres in this order."""
        return find_cover(
            self.index_.rows, self.index_, order, self.n_neighbors_, self.n_cover_,
            search_threads(self.n_jobs),
        )  # fmt: skip

    def _train(self, neighbors: NDArray[np.int32]) -> LocalModels:
        """Train a local SVM on each list of training rows."""
        return train_models(
            self.embedded_, self.labels_, len(self.classes_), neighbors, self.kernel_, self.gamma_,
            float(self.percentile_), float(self.C_), self.n_jobs, self._unit,
        )  # fmt: skip

    def _set_cover(self, cover: Cover) -> None:
        """Take over a cover, without its neighbourhoods: `neighborhood` finds them again."""
        self.centers_, self.center_of_ = cover.centers, cover.center_of
        self._index_centers()

    def _index_centers(self) -> None:
        self.center_index_ = None
        if self.select == "center":
            self.center_index_ = self._index(self._searched(self.rows_[self.centers_]), 0)

    def _warn(self) -> None:
        """Warn of models that did not converge, and of classes that no query will get."""
        self._warn_of_short(self.models_, 3)
        members = np.bincount(self.labels_)
        is_tiny = (members > 0) & (members <= TINY_CLASS) & (members < len(self.labels_) / 20)
        for label in np.flatnonzero(is_tiny):
            own = self.rows_[self.labels_ == label]
            if not (self.predict(own) == self.classes_[label]).any():
                warnings.warn(
                    f"Class {self.classes_[label]} has {members[label]} members and is outvoted "
                    "in every neighbourhood: it will not be predicted. Lower n_neighbors, raise C "
                    "or repeat its rows.",
                    UserWarning,
                    stacklevel=3,
                )

    def _models_for(self, X: NDArray[Any]) -> tuple[LocalModels, NDArray[Any], NDArray[Any]]:
        searched, n_jobs = self._searched(X), search_threads(self.n_jobs, len(X))
        if self.center_index_ is not None:  # eq. 10
            which = self.center_index_.query(searched, 1, n_jobs)[:, 0]
            return self.models_, which, self.centers_[which]
        nearest = self.index_.query(searched, 1, n_jobs)[:, 0]  # eq. 12: t = x_{r_x(1)}
        return self.models_, self.center_of_[nearest], nearest

    def _centers_of(self, models: NDArray[Any], nearest: NDArray[Any]) -> NDArray[Any]:
        return self.centers_[models]

    @property
    def overhead_(self) -> float:
        """The neighbour search, in kernel values: the rows it looks at."""
        index = self.center_index_ or self.index_
        if self.axes_ is None:
            return index.overhead
        # in the projection a distance takes fewer products, and each coordinate of the query as
        # many as a kernel value
        return index.overhead * self.axes_.shape[1] / self.axes_.shape[0] + self.axes_.shape[1]

    def apply(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return the number of the local model that answers each row.

        Parameters
        ----------
        X : array of shape (n, d)
        """
        return self._models_for(self._rows(X))[1].astype(np.intp)

    def nearest(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return the training row that the search finds for each row.

        It is the nearest of all (eq. 12), or with `select="center"` the nearest centre (eq. 10).

        Parameters
        ----------
        X : array of shape (n, d)
        """
        return self._models_for(self._rows(X))[2].astype(np.intp)

    def model_outputs(self, models: ArrayLike, X: ArrayLike) -> NDArray[np.float64]:
        """Return what these models, whether the rows' own or not, put out for each row.

        Parameters
        ----------
        models : int, or array of shape (n,)
            The model of each row.
        X : array of shape (n, d)
        """
        rows = self._rows(X)
        which = np.broadcast_to(np.asarray(models, dtype=np.intp), len(rows))
        return self._evaluate(self.models_, which, rows)

    def selecting(self, select: str) -> FaLKClassifier:
        """Return the same trained models under another `select`; nothing is trained."""
        other = copy(self).set_params(select=select)
        other._validate_params()
        other._index_centers()
        return other

    def neighborhood(self, model: int) -> NDArray[np.int32]:
        """Return the k training rows that a local model was trained on, nearest first."""
        return self._neighborhoods(np.array([model]))[0]

    def _neighborhoods(self, models: NDArray[Any]) -> NDArray[np.int32]:
        centers = self._searched(self.rows_[self.centers_[models]])
        return self.index_.query(centers, self.n_neighbors_)

    def radii(self, models: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return how far the k'- and the k-neighbourhood of each model reach, (M, 2).

        Distances are Euclidean, between training rows. None is all models.
        """
        models = np.arange(len(self.models_)) if models is None else np.asarray(models)
        ends = self.rows_[self._neighborhoods(models)[:, [self.n_cover_ - 1, -1]]]
        return np.linalg.norm(ends - self.rows_[self.centers_[models]][:, None], axis=2)

    def local_model(self, model: int) -> LocalModel:
        """Return the record of one local model, whether or not a query goes to it."""
        members = self.neighborhood(model)
        wrong = self._misses(np.full(len(members), model), members)
        inner, outer = self.radii([model])[0]
        return LocalModel(
            model=model,
            center=int(self.centers_[model]),
            members=members,
            n_cover=self.n_cover_,
            vectors=np.unique(self.models_.index[self.models_.all_vectors(model)]),
            inner=float(inner),
            outer=float(outer),
            error=float(np.mean(wrong)),
        )

    def contradicted(self) -> NDArray[np.bool_]:
        """Return which training rows are put into another class by the model of their centre.

        This is what `LocalNoiseReducer(method="falk")` removes.
        """
        return self._misses(self.center_of_, np.arange(len(self.rows_)))

    def _misses(self, models: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which training rows these models put into another class."""
        outputs = self._evaluate(self.models_, models, self.rows_[rows])
        return self.winners(outputs) != self.labels_[rows]

    def check(self) -> None:
        """Refuse arrays that do not fit together (ValueError)."""
        super().check()
        n, M = len(self.rows_), len(self.models_)
        shaped("centers_", self.centers_, M)
        within("centers_", self.centers_, 0, n)
        shaped("center_of_", self.center_of_, n)
        within("center_of_", self.center_of_, 0, M)
        within("models_.index", self.models_.index, 0, n)
        within("models_.n_classes", self.models_.n_classes, k := len(self.classes_), k + 1)
