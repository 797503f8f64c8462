"""What the eager and the lazy local SVM share: input, kernels, answers, records."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from kmviz.kernels import RBF, is_known
from kmviz.machines import KernelMachine
from kmviz.machines.named import gamma_for, named_kernel
from kmviz.machines.soundness import shaped, within
from kmviz.methods.base import FLOATS, PairsClassifier, as_query, is_clean
from kmviz.methods.falk.answering import answer, answer_one
from kmviz.methods.falk.models import LocalModels
from kmviz.methods.falk.neighbors import EuclideanIndex, build_index, is_euclidean, search_rows
from kmviz.methods.falk.projection import axes_that_pay, principal_axes
from kmviz.methods.falk.training import LOCAL, is_radial, refuse_overflow, unit_of, width_of
from kmviz.traces import LocalTrace

KERNEL_CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [StrOptions({"rbf", "linear", "poly"}), callable],
    "C": [Interval(Real, 0.0, None, closed="neither")],
    "gamma": [
        StrOptions({"scale", "auto", "local"}),
        Interval(Real, 0.0, None, closed="neither"),
    ],
    "degree": [Interval(Integral, 1, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
}


#: Queries whose models are in memory at a time.
CHUNK = 4096


def chunks_of(rows: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the rows in chunks, of which a model each fits in memory."""
    return [rows[s : s + CHUNK] for s in range(0, len(rows), CHUNK)]


def resolve_kernel(
    kernel: Any, gamma: Any, X: NDArray[Any], degree: int = 3, coef0: float = 0.0
) -> tuple[Any, float]:
    """Return the kernel as a callable, and the gamma of the models (`LOCAL`: each its own).

    Strings mean what they mean in `SVC`: "poly" is homogeneous and cubic unless `degree` and
    `coef0` say otherwise.
    """
    if gamma == "local" and not (isinstance(kernel, str) and kernel == "rbf"):
        raise ValueError(
            f"gamma='local' is a width: it goes with kernel='rbf', not with kernel={kernel!r}. "
            "Use gamma='scale' or a number."
        )
    if callable(kernel):
        plain = getattr(kernel, "plain", None)
        return kernel, float(getattr(plain, "gamma", 1.0))
    if gamma == "local":
        return RBF(1.0), LOCAL
    named = named_kernel(kernel, gamma_for(gamma, X), degree, coef0)
    return named, float(getattr(named, "gamma", 1.0))


class LocalClassifier(PairsClassifier):
    """Base of the local SVMs. A subclass says which local model a query goes to: `_models_for`."""

    kernel: Any
    gamma: Any
    degree: int
    coef0: float
    n_jobs: Any = None
    projection: int | str | None = None

    labels_: NDArray[np.int32]
    rows_: NDArray[np.floating]
    embedded_: NDArray[np.floating]
    axes_: NDArray[np.floating] | None
    gamma_: float
    n_neighbors_: int
    n_cover_: int
    C_: float
    percentile_: float

    #: What rows are multiplied by before they are made float32.
    _unit: float = 1.0

    def _models_for(self, X: NDArray[Any]) -> tuple[LocalModels, NDArray[Any], NDArray[Any]]:
        """Return models, the model of each query, and each query's nearest training row."""
        raise NotImplementedError

    def _centers_of(self, models: NDArray[Any], nearest: NDArray[Any]) -> NDArray[Any]:
        """Return the training row at the centre of each query's model; -1: the query itself."""
        raise NotImplementedError

    def _read(self, X: Any, y: Any, random_state: Any, classes: Any = None) -> int:
        """Check the training data and index it; returns the seed of everything random."""
        X, y = validate_data(self, X, y, dtype=FLOATS)
        check_classification_targets(y)
        self.classes_ = np.unique(y if classes is None else classes)
        if len(self.classes_) < 2:
            name = "y holds" if classes is None else "classes names"
            raise ValueError(f"{name} one class only; a classifier needs at least two classes.")
        labels = self._codes(y)
        seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
        width = width_of(X)
        self.kernel_, self.gamma_ = resolve_kernel(
            self.kernel, self.gamma, X, self.degree, self.coef0
        )
        refuse_overflow(self.kernel_, X)
        self._unit = unit_of(width, self.kernel_)
        self.axes_ = self._axes(search_rows(self.kernel_, X), seed)
        self._index_rows(X, labels, seed)
        return seed

    def _axes(self, searched: NDArray[Any], seed: int) -> NDArray[Any] | None:
        """Return the principal components to search neighbours among; None is all coordinates."""
        if isinstance(self.projection, Integral):
            return principal_axes(searched, int(self.projection), seed)
        if self.projection == "auto" and is_euclidean(self.kernel_):
            return axes_that_pay(searched, seed)
        return None

    def _index_rows(self, rows: NDArray[Any], labels: NDArray[np.int32], seed: int) -> None:
        """Take over the training rows and index them."""
        # owned and writable: loops are compiled for one kind of array, a mapped file is another
        self.rows_ = np.require(rows, requirements=["C", "A", "W", "E"])
        self.labels_ = labels
        self.embedded_ = self._embedded(self.rows_)
        self.index_ = self._index(self._searched(self.rows_), seed)

    def _codes(self, y: NDArray[Any]) -> NDArray[np.int32]:
        """Return the places of classes in `classes_`."""
        codes = np.searchsorted(self.classes_, y).astype(np.int32)
        is_unknown = self.classes_[np.minimum(codes, len(self.classes_) - 1)] != y
        if is_unknown.any():
            raise ValueError(
                f"y holds {y[is_unknown][0]}, which is not among classes {self.classes_.tolist()}. "
                "All classes are named in the first call of partial_fit, or stand in y of fit."
            )
        return codes

    def _embedded(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return X as the local SVMs see it."""
        return np.ascontiguousarray(self.kernel_.embed(X)) if is_known(self.kernel_) else X

    def _searched(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return X as the neighbour search sees it."""
        rows = search_rows(self.kernel_, X)
        return rows if self.axes_ is None else rows @ self.axes_

    def _index(self, searched: NDArray[Any], seed: int) -> Any:
        if self.axes_ is not None:
            return EuclideanIndex(searched)
        return build_index(self.kernel_, searched, seed)

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the output of each row's local model, (n,) for two classes, else (n, n_classes).

        With more than two classes it is scikit-learn's one-against-one aggregation, inside the
        neighbourhood.
        """
        return self._outputs(self._rows(X))

    def check(self) -> None:
        """Refuse arrays that do not fit together (ValueError)."""
        n = len(self.rows_)
        shaped("rows_", self.rows_, n, self.n_features_in_)
        shaped("embedded_", self.embedded_, n, None)
        shaped("labels_", self.labels_, n)
        within("labels_", self.labels_, 0, len(self.classes_))
        if len(self.index_.rows) != n:
            raise ValueError("index_ holds other rows than rows_.")
        if not 0 < self._unit < np.inf:
            raise ValueError(f"_unit={self._unit!r} is no positive number.")
        if hasattr(self, "n_neighbors_"):
            within("n_neighbors_", self.n_neighbors_, 1, len(self.rows_) + 1)

    def exact_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return what each row's local model would put out; it answers exactly."""
        return self.decision_function(X)

    def steps(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return how many kernel values each row takes: the support vectors of its model."""
        models, which, _ = self._models_for(self._rows(X))
        return models.sizes()[which]

    def trace(self, x: ArrayLike, pair: tuple[Any, Any] | None = None) -> LocalTrace:
        """Return the record of one query.

        Parameters
        ----------
        x : array of shape (d,) or (1, d), or a row of a frame
        pair : tuple of two classes, optional
            Which machine of the local model to watch. None takes the two classes that
            `decision_function` puts first.
        """
        rows, models, which, nearest = self._single_query(x)
        place, alone = self._machine_index(models, int(which[0]), self._pair_index(rows, pair))
        machine = self._machine(models, int(which[0]), place, alone)
        values = np.zeros(0)
        if machine.n_vectors:
            pair_of_rows = (a.astype(np.float64, copy=False) for a in (rows, machine.vectors))
            values = np.asarray(machine.kernel(*pair_of_rows), dtype=np.float64)[0]
        index = np.zeros(0, dtype=np.intp) if place is None else models.index[models.vectors(place)]
        return LocalTrace(
            exact=float(np.sum(machine.beta * values) - machine.bias),
            output=self._output(models, int(which[0]), place, alone, rows),
            stop=machine.n_vectors,
            partial=np.concatenate([[0.0], np.cumsum(machine.beta * values)]) - machine.bias,
            index=np.concatenate([[-1], index]).astype(np.intp),
            value=np.concatenate([[0.0], values]),
            nearest=int(nearest[0]),
            center=int(self._centers_of(which, nearest)[0]),
            model=int(which[0]),
        )

    def local_machine(self, x: ArrayLike, pair: tuple[Any, Any] | None = None) -> KernelMachine:
        """Return the machine that answers one query.

        Without vectors its neighbourhood held one class only. With more than two classes it is
        the machine of `pair`, positive for the pair's first class.
        """
        rows, models, which, _ = self._single_query(x)
        model = int(which[0])
        return self._machine(
            models, model, *self._machine_index(models, model, self._pair_index(rows, pair))
        )

    def _rows(self, X: Any) -> NDArray[Any]:
        if not hasattr(self, "index_"):
            check_is_fitted(self)
        if is_clean(self, X):
            return X
        return validate_data(self, X, reset=False, dtype=FLOATS)

    def _single_query(
        self, x: ArrayLike
    ) -> tuple[NDArray[Any], LocalModels, NDArray[Any], NDArray[Any]]:
        rows = self._rows(as_query(x))
        if len(rows) != 1:
            raise ValueError(f"One query at a time, please; got {len(rows)} rows.")
        return (rows, *self._models_for(rows))

    def _outputs(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        models, which, _ = self._models_for(rows)
        return self._evaluate(models, which, rows)

    def _warn_of_short(self, models: LocalModels, level: int) -> None:
        """Say how many local SVMs ran out of steps."""
        if models.short:
            warnings.warn(
                f"{models.short} of {len(models)} local SVMs did not converge; scale the features "
                "or lower C.",
                ConvergenceWarning,
                stacklevel=level + 1,
            )

    def _evaluate(self, models: LocalModels, which: Any, rows: Any) -> NDArray[np.float64]:
        """Return what `decision_function` does, from these models."""
        outputs = answer(models, which, rows, self.embedded_, self.kernel_, self.n_jobs)
        return outputs[:, 0] if len(self.classes_) == 2 else outputs

    def _machine_index(
        self, models: LocalModels, model: int, pair: int
    ) -> tuple[int | None, float]:
        """Return the machine of a model for a pair of classes, and the output without one."""
        first, second = np.triu_indices(len(self.classes_), 1)
        return models.machine_of(model, int(first[pair]), int(second[pair]))

    def _output(
        self, models: LocalModels, model: int, place: int | None, alone: float, rows: NDArray[Any]
    ) -> float:
        if place is None:
            return alone
        outputs = answer_one(models, model, rows, self.embedded_, self.kernel_)
        return float(outputs[place - models.machines[model]])

    def _machine(
        self, models: LocalModels, model: int, place: int | None, alone: float
    ) -> KernelMachine:
        kernel = self.kernel_
        if is_radial(kernel):
            kernel = RBF(float(models.gammas[model]))
        if place is None:
            return KernelMachine(self.rows_[:0], np.zeros(0), -alone, kernel)
        vectors = models.vectors(place)
        return KernelMachine(
            self.rows_[models.index[vectors]], models.weight[vectors], models.bias[place], kernel
        )
