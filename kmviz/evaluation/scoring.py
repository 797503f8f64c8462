"""A score for choosing settings: what a query costs, and what a changed answer would."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

#: `scoring=` of scikit-learn's searches.
Scorer = Callable[..., float]


def thrift(price: float = 100.0) -> Scorer:
    """Return a scorer for `GridSearchCV` that weighs m/k against disagreements.

    The score of a fitted method is minus the mean cost of a query, in answers of the exact machine:
    (k + overhead) / m for the answer, and `price` for each one that differs. 0 is the best there
    can be, -1 is as good as the exact machine. No label is read: the yardstick is the machine.

    Parameters
    ----------
    price : float, default=100
        How many exact answers one changed answer is worth. With 100, a method that is right twenty
        times as fast may change one answer in about a hundred before it is not worth having.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.svm import SVC
    >>> from kmviz import NSVClassifier
    >>> from kmviz.evaluation.scoring import thrift
    >>> X, y = make_moons(600, noise=0.2, random_state=0)
    >>> svc = SVC(gamma=2.0).fit(X[:300], y[:300])
    >>> grid = {"window": [2, 10], "margin": [0.0, 0.25, 1.0]}
    >>> search = GridSearchCV(NSVClassifier(FrozenEstimator(svc)), grid, scoring=thrift(), cv=3)
    >>> sorted(search.fit(X[300:], y[300:]).best_params_)
    ['margin', 'window']
    """
    if not price >= 0:
        raise ValueError(f"price must be at least 0; got {price!r}.")

    def score(clf: Any, X: Any, y: Any = None) -> float:
        m = sum(machine.n_vectors for machine in clf.machines_)
        cost = (float(np.mean(clf.steps(X))) + clf.overhead_) / m
        differs = float(np.mean(clf.predict(X) != clf.estimator_labels(X)))
        return -(cost + price * differs)

    return score
