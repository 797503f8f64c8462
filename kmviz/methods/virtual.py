"""Virtual support vectors: a machine taught the invariances of its problem.

Schoelkopf, Burges and Vapnik (1996); Burges and Schoelkopf (1997), section 3: train, transform
the support vectors in ways that leave the class as it is (images: by one pixel in four
directions), train again on them.

Departures
----------
- The support vectors themselves stay beside their copies (`keep_original=False` leaves them
  out, as the paper's system did).
- Any transform may be given; `kmviz.methods.transforms` has shifts of images, and the rotations and
  the changes of line thickness that the paper's discussion names. `Straighten`, also there, is
  for a pipeline before the machine.
- With more than two classes one model is trained on the copies of all its support vectors: a
  machine also sees copies of rows that carry other machines only. The paper retrains each machine
  on its own. `OneVsRestClassifier(SVC())` gives the paper's one machine for each class.
- An estimator without support vectors of its own is read in their spirit: all rows of a kernel
  Fisher discriminant, the rows inside the margin of a linear machine.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import validate_data

from kmviz.machines.reading import support_vectors
from kmviz.machines.unwrap import last_step
from kmviz.methods.base import FLOATS, BinaryProblem, MachineClassifier
from kmviz.methods.progress import report
from kmviz.methods.sums import SumEngine
from kmviz.methods.transforms import like, shifts

Transform = Callable[[Any], Any]


class VirtualSVClassifier(MachineClassifier):
    """A kernel machine retrained on transformed copies of its support vectors.

    With neither `image_shape` nor `transforms` it is its estimator. A `FrozenEstimator` stays
    as it is; a copy of it is trained on the copies of its support vectors.

    Parameters
    ----------
    estimator : estimator, default=None
        What trains the machine, twice; None is `SVC()`. `GridSearchCV` over `estimator__C`
        needs it given.
    image_shape : (height, width), default=None
        Rows are images: support vectors are shifted in the four directions.
    shift : int, default=1
        By how many pixels; 0 shifts nothing.
    transforms : list of callables, default=None
        Each takes rows (as given to `fit`, a copy that it may write to) and returns as many.
    keep_original : bool, default=True
        Whether the support vectors stay beside their copies. Training rows that are no support
        vectors are dropped, as in the paper.

    Attributes
    ----------
    machine_ : KernelMachine
        The retrained machine; `machines_`, one for each pair of classes.
    original_ : KernelMachine, or a list of them, one for each pair, with more than two classes
        The first machine.
    n_virtual_ : int
        Rows of the second training, 0 where nothing is to be transformed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from kmviz import VirtualSVClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = np.abs(X[:, 0]) > 0.7
    >>> clf = VirtualSVClassifier(SVC(C=10), transforms=[lambda X: X * [-1, 1]]).fit(X, y)
    >>> bool((clf.predict(X) == clf.predict(X * [-1, 1])).mean() > 0.95)
    True
    """

    n_virtual_: int

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [BaseEstimator, None],
        "image_shape": ["array-like", None],
        "shift": [Interval(Integral, 0, None, closed="left")],
        "transforms": [list, tuple, callable, None],
        "keep_original": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any = None,
        image_shape: Any = None,
        shift: int = 1,
        transforms: Any = None,
        keep_original: bool = True,
    ) -> None:
        self.estimator = estimator
        self.image_shape = image_shape
        self.shift = shift
        self.transforms = transforms
        self.keep_original = keep_original

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> VirtualSVClassifier:
        """Train, transform the support vectors, train again.

        Parameters
        ----------
        X : array of shape (n, d)
            Training rows. A frozen SVC has its support vectors at hand and needs their shape
            alone; a frozen pipeline has them as its first steps made them, and needs the rows that
            it was trained on, in their order.
        y : array of shape (n,)
            Classes; not used with a `FrozenEstimator`.
        """
        self._validate_params()
        report(0.0, "training the first machine")
        problems = self._train(X, y)
        originals = [problem.machine for problem in problems]
        frozen = isinstance(self.estimator, FrozenEstimator)
        through = self.preprocessing_ is not None
        columns = self.n_features_in_ if through else originals[0].n_features
        self.n_virtual_ = 0
        if transforms := self._transforms(columns):
            report(0.3, "training on virtual support vectors")
            rows, labels = self._frozen_support(X) if frozen else self._support(X, y)
            rows, labels = _transformed_copies(rows, labels, transforms, self.keep_original)
            problems = self._retrained(self._transformed(rows), labels)
        self.original_ = originals[0] if len(self.classes_) == 2 else originals
        return self._prepare(problems)

    def _engine(self, problem: BinaryProblem) -> SumEngine:
        return SumEngine(problem.machine)

    def _transforms(self, n_columns: int) -> list[Transform]:
        """Return what is to be done to the support vectors, after checking that it can be."""
        own = self.transforms if self.transforms is not None else []
        own = [own] if callable(own) else list(own)
        for transform in own:
            if not callable(transform):
                raise ValueError(
                    f"transforms must hold callables that take rows; got {transform!r}."
                )
        if self.image_shape is None:
            return own
        shape = tuple(self.image_shape)
        if len(shape) != 2 or not all(isinstance(s, Integral) and int(s) > 0 for s in shape):
            raise ValueError(
                f"image_shape must be (height, width), two whole numbers; got {shape!r}."
            )
        if shape[0] * shape[1] != n_columns:
            raise ValueError(
                f"image_shape={shape!r} holds {shape[0] * shape[1]} pixels, but X has {n_columns} "
                "columns. Give the height and width of the images."
            )
        if self.shift >= min(shape):
            raise ValueError(
                f"shift={self.shift} moves images of {shape!r} out of their frame. Give fewer "
                "pixels."
            )
        return (shifts(shape, int(self.shift)) if self.shift else []) + own

    def _support(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Return the rows that carry the machine, as given to `fit`, and their classes."""
        if self.preprocessing_ is None:
            X = validate_data(self, X, reset=False, dtype=FLOATS)
        elif not hasattr(X, "iloc"):
            X = np.asarray(X)
        y, last = np.asarray(y), last_step(self.estimator_)
        held = last.estimators_ if isinstance(last, OneVsRestClassifier) else [last]
        index = np.arange(len(y))
        if all(isinstance(one, SVC | NuSVC) for one in held):
            index = np.unique(np.concatenate([one.support_ for one in held]))
        elif all(isinstance(one, LinearSVC) for one in held):
            output = last.decision_function(self._transformed(X)).reshape(len(y), -1)
            side = np.where(y[:, None] == last.classes_[-output.shape[1] :], 1, -1)
            index = np.flatnonzero((output * side <= 1.0 + 1e-6).any(axis=1))
        return _safe_indexing(X, index), y[index]

    def _frozen_support(self, X: Any) -> tuple[Any, NDArray[Any]]:
        """Return the support vectors of a frozen machine, as rows of X, and their classes."""
        last = last_step(self.estimator_)
        if isinstance(last, SVC | NuSVC):
            order = np.argsort(last.support_, kind="stable")
            labels = np.repeat(self.classes_, last.n_support_)[order]
            vectors = support_vectors(last)[order]
            if self.preprocessing_ is None:
                return vectors, labels
            return self._trained_on(X, last.support_[order], vectors), labels
        if hasattr(last, "machine_") and self.preprocessing_ is None:
            machine = last.machine_
            return machine.vectors, self.classes_[(machine.beta > 0).astype(np.intp)]
        raise TypeError(
            f"A frozen {type(last).__name__} keeps no support vectors to transform. Give it "
            "unfrozen, with the training rows."
        )

    def _trained_on(self, X: Any, index: NDArray[Any], vectors: NDArray[Any]) -> Any:
        """Return the rows of X that a frozen pipeline's support vectors were made from."""
        if len(index) and index.max() < np.shape(X)[0]:
            rows = _safe_indexing(X if hasattr(X, "iloc") else np.asarray(X), index)
            made = self._transformed(rows)
            if made.shape == vectors.shape and np.allclose(made, vectors, rtol=1e-5, atol=1e-8):
                return rows
        raise ValueError(
            "A frozen pipeline keeps its support vectors as its first steps made them, and "
            "transforms take rows as they came: give fit the X that the pipeline was trained on, "
            "or the estimator unfrozen."
        )

    def _retrained(self, rows: NDArray[Any], labels: NDArray[Any]) -> list[BinaryProblem]:
        """Train the last step anew; the steps before it stay as the first training left them."""
        self.n_virtual_ = len(labels)
        last = clone(last_step(self.estimator_)).fit(rows, labels)
        given = last
        if self.preprocessing_ is not None:
            last = Pipeline([*self.preprocessing_.steps, ("machine", last)])
        self.estimator_ = last
        return self._problems(rows, labels, given)


def _transformed_copies(
    rows: Any, labels: NDArray[Any], transforms: list[Transform], keep_original: bool
) -> tuple[Any, NDArray[Any]]:
    """Return the rows of the second training, and their classes."""
    copies = [rows] if keep_original else []
    for transform in transforms:
        copy = transform(rows.copy())  # which it may write to
        if np.shape(copy) != np.shape(rows):
            raise ValueError(
                f"transforms must keep the shape of their rows: {transform!r} made "
                f"{np.shape(copy)} of {np.shape(rows)}."
            )
        copies.append(copy if hasattr(copy, "iloc") else like(rows, copy))
    return _stacked(copies), np.tile(labels, len(copies))


def _stacked(copies: list[Any]) -> Any:
    if not hasattr(copies[0], "iloc"):
        return np.concatenate([np.asarray(copy) for copy in copies])
    import pandas as pd

    return pd.concat(copies, ignore_index=True)
