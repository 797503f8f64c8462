"""What answering with the model of a centre costs against one trained around the query itself.

Section 4.4 writes FaLK-SVM's risk as kNNSVM's and a term lambda (eq. 14), whose expectation
E[lambda] (eq. 15) the paper argues to be small and does not estimate. Rows with known classes
estimate both.

Departures. The largest lambda in a Voronoi cell is over all points there; here it is over the rows
given that fall into it, so `expected` grows towards the paper's term as rows become many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmviz.methods.falk.classifier import FaLKClassifier
from kmviz.methods.falk.local import parts


@dataclass(frozen=True)
class LocalityGap:
    """The term of eq. 14, and of eq. 15, estimated on rows with known classes.

    Attributes
    ----------
    mean : float
        lambda-hat: how much more often FaLK-SVM is wrong than kNNSVM with the same parameters.
    error : float
        Its standard error.
    expected : float
        E[lambda]: the same with each row's term replaced by the largest in its Voronoi cell.
    differ : float
        The share of rows that the two put into different classes.
    n : int
        Rows that the estimates rest on.
    """

    mean: float
    error: float
    expected: float
    differ: float
    n: int


def locality_gap(fitted: FaLKClassifier, X: ArrayLike, y: ArrayLike) -> LocalityGap:
    """Estimate lambda and E[lambda] of a fitted classifier.

    Parameters
    ----------
    fitted : FaLKClassifier
    X : array of shape (n, d)
        Rows it was not trained on. An SVM is trained for each.
    y : array of shape (n,)

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kmviz import FaLKClassifier
    >>> from kmviz.methods.falk.gap import locality_gap
    >>> X, y = make_moons(600, noise=0.2, random_state=0)
    >>> clf = FaLKClassifier(40, random_state=0).fit(X[:500], y[:500])
    >>> gap = locality_gap(clf, X[500:], y[500:])
    >>> bool(abs(gap.mean) <= gap.differ < 0.1)
    True
    """
    y = np.asarray(y)
    eager, lazy = fitted.predict(X), fitted.classes_[fitted.winners(lazy_outputs(fitted, X))]
    # eq. 14: R_FaLK(x') = R_kNNSVM(x') + lambda(x', x_{r_x'(1)}), with the 0-1 loss for the risks
    terms = (eager != y).astype(np.float64) - (lazy != y)
    cell = fitted.nearest(X)
    # eq. 14: lambda_{r_x'(1)} = max over x'' in the cell of lambda(x'', x_{r_x'(1)})
    largest = np.full(len(fitted.rows_), -1.0)
    np.maximum.at(largest, cell, terms)
    return LocalityGap(
        mean=float(terms.mean()),
        error=float(terms.std() / np.sqrt(len(terms))),
        expected=float(largest[cell].mean()),  # eq. 15: E[lambda], over where queries fall
        differ=float(np.mean(eager != lazy)),
        n=len(terms),
    )


def lazy_outputs(fitted: FaLKClassifier, X: ArrayLike) -> NDArray[np.float64]:
    """Return what kNNSVM with the same neighbours, kernel and parameters puts out for each row."""
    found = []
    for rows in parts(fitted._rows(X)):
        neighbors = fitted.index_.query(fitted._searched(rows), fitted.n_neighbors_)
        models = fitted._train(neighbors)
        found.append(fitted._evaluate(models, np.arange(len(rows)), rows))
    return np.concatenate(found)
