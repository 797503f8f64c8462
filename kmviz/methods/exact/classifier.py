"""The exact machine in float32: what every speed claim is measured against.

One BLAS product over all support vectors for a batch, a compiled loop for a few queries. Rows so
near the boundary that float32 might miss their sign are computed again in float64, so labels are
those of the machine itself. With several classes each distinct support vector is asked once.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import StrOptions

from kmviz.machines.reading import differences
from kmviz.machines.shared import SharedMachines
from kmviz.machines.votes import Rule
from kmviz.methods.base import BinaryProblem, MachineClassifier
from kmviz.methods.sums import ExactEngine

#: How outputs are computed; the first is the default.
PRECISIONS = ("float32", "float64")


class ExactClassifier(MachineClassifier):
    """A kernel machine that answers exactly, in float32.

    Parameters
    ----------
    estimator : estimator, default=None
        What trains the machine; None is `SVC()`. Give `FrozenEstimator(svc)` to take a trained
        one as it is. `GridSearchCV` over `estimator__C` needs it given.
    dtype : {"float32", "float64"}
        "float32" is several times faster, with the labels of float64 and scores to about six
        digits; "float64" is for where the scores themselves are compared or added up.

    Notes
    -----
    Sparse rows are answered as they are, by sparse-dense products (under a normalised kernel, or
    one of one's own, in small dense blocks); the support vectors are kept dense.

    `decision_function` is the machine's own score, to float32; with several classes `steps` are
    the distinct support vectors, which all pairs of classes share.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kmviz import ExactClassifier
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> clf = ExactClassifier().fit(X, y)
    >>> bool((clf.predict(X) == clf.estimator_.predict(X)).all())
    True
    >>> bool((clf.steps(X) == clf.machine_.n_vectors).all())
    True
    """

    _takes_sparse = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [BaseEstimator, None],
        "dtype": [StrOptions(set(PRECISIONS))],
    }

    def __init__(self, estimator: Any = None, dtype: str = "float32") -> None:
        self.estimator = estimator
        self.dtype = dtype

    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: Any = None
    ) -> ExactClassifier:
        """Train the estimator, unless it is frozen.

        Parameters
        ----------
        X : array of shape (n, d)
            Training rows. With a `FrozenEstimator`, any rows that it could be asked about.
        y : array of shape (n,)
            Classes; not used with a `FrozenEstimator`.
        sample_weight : array of shape (n,), optional
            For the estimator, as its last step takes it.
        """
        self._validate_params()
        return self._prepare(self._train(X, y, sample_weight))

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return f of each row, (n,) for two classes and (n, n_classes) for more.

        With more than two classes it is scikit-learn's one-against-one aggregation, or the output
        of each class's own machine against the rest.
        """
        return super().decision_function(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row; the model itself is asked where rounding decides it."""
        return self._labels(X, *self._certain(self._rows(X)))

    def near_zero(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return the rows for which rounding decides the sign of f(x)."""
        return self._certain(self._rows(X))[1]

    def steps(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return how many kernel values each row takes: one for each distinct support vector."""
        return np.full(self._rows(X).shape[0], self.n_vectors_, dtype=np.intp)

    @property
    def n_vectors_(self) -> int:
        """The distinct support vectors."""
        return len(self._shared.vectors)

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        return self._certain(self._rows(X))[0]  # which says so where nothing is fitted

    def _certain(self, rows: Any) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return outputs, and the rows of which rounding decides the class."""
        outputs, asked, near = self._shared.certain_outputs(rows, self.dtype == "float64")
        if not self.rule_.rest:
            return outputs, asked[near.any(axis=1)] if len(asked) else asked
        n = len(self.classes_)  # signs of the differences are float64's: so is the largest
        outputs, winner = outputs[:, :n], Rule().winners(outputs[:, n:])
        wrong = np.flatnonzero(outputs.argmax(axis=1) != winner)
        if len(wrong):
            outputs[wrong] = self._shared.outputs(rows[wrong], True)[:, :n]
        if len(asked):  # differences between classes that lose anyway matter to nobody
            is_its_own = (np.stack(np.triu_indices(n, 1)) == winner[asked, None, None]).any(axis=1)
            asked = asked[(near[:, n:] & is_its_own).any(axis=1)]
        return outputs, asked

    def _prepare(self, problems: list[BinaryProblem]) -> Any:
        machines = [problem.machine for problem in problems]
        further = differences(machines) if self.rule_.rest else []
        self._shared = SharedMachines(machines + further, self._allowed)
        wide = self.dtype == "float64"
        return self._adopt([ExactEngine(self._shared, p, wide) for p in range(len(problems))])
