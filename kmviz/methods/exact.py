"""The exact machine in float32: what every speed claim is measured against.

One BLAS product over all support vectors for a batch, a compiled loop for a few queries. It is
usually many times faster than `SVC.decision_function`, with the same labels.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from kmviz.methods.base import MachineClassifier, Problem
from kmviz.methods.sums import SumEngine


class ExactClassifier(MachineClassifier):
    """A kernel machine that answers exactly, in float32.

    Parameters
    ----------
    estimator : estimator, default=None
        What trains the machine; None is `SVC()`. Give `FrozenEstimator(svc)` to take a trained
        one as it is. `GridSearchCV` over `estimator__C` needs it given.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"estimator": [BaseEstimator, None]}

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def _engine(self, problem: Problem) -> SumEngine:
        return SumEngine(problem.machine, dtype="float32")
