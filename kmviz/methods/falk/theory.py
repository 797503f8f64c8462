"""The generalisation of local SVMs (section 4.4): a bound on their risk, and what locality costs.

Eq. 13 bounds the risk of a local SVM. FaLK-SVM, which answers with the model of a centre, has
kNNSVM's risk and a term lambda (eq. 14), whose expectation E[lambda] (eq. 15) the paper argues to
be small and does not estimate. Rows with known classes estimate both.

Departures. The largest lambda in a Voronoi cell is over all points there; here it is over the rows
given that fall into it, so `expected` grows towards the paper's term as rows become many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmviz.methods.falk.classifier import FaLKClassifier
from kmviz.methods.falk.local import chunks_of


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
    >>> from kmviz.methods.falk.theory import locality_gap
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
    outputs = []
    for rows in chunks_of(fitted._rows(X)):
        neighbors = fitted.index_.query(fitted._searched(rows), fitted.n_neighbors_)
        models = fitted._train(neighbors)
        outputs.append(fitted._evaluate(models, np.arange(len(rows)), rows))
    return np.concatenate(outputs)


def risk_bound(n: int, k: int, error: float, complexity: float, eta: float = 0.05) -> float:
    """Return the bound of eq. 13 on the risk of a local SVM, with probability 1 - eta.

    Parameters
    ----------
    n, k : int
        Training points, and points of the neighbourhood.
    error : float
        nu, the share of misclassified points in the neighbourhood.
    complexity : float
        h, the VC dimension of the local machines; d + 1 for hyperplanes.
    eta : float

    Notes
    -----
    A bound over 1 says nothing, and for small k / n it is over 1. With `error` held fixed it has a
    pole where k / n equals gamma(n, 2): where it is least as k moves means nothing.

    Examples
    --------
    >>> from kmviz.methods.falk.theory import risk_bound
    >>> bool(risk_bound(10**6, 10**5, 0.05, 3) < risk_bound(10**6, 10**5, 0.15, 3))
    True
    """
    # eq. 13: R <= (k/N nu + gamma(N, h)) / |k/N - gamma(N, 2)|
    share = k / n
    return (share * error + _gamma(n, complexity, eta)) / abs(share - _gamma(n, 2, eta))


def _gamma(n: int, h: float, eta: float) -> float:
    # theorem 6: gamma(N, h) = sqrt((h ln(2N/h + 1) - ln(eta/2)) / N)
    return float(np.sqrt((h * np.log(2 * n / h + 1) - np.log(eta / 2)) / n))
