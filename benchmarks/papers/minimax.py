"""Minimax probability machine: the plane whose worst case over all distributions is best.

Lanckriet, El Ghaoui, Bhattacharyya and Jordan (2002), "A robust minimax approach to
classification". Of the two classes only means and covariances are known; of all distributions that
have them, the worst is answered rightly with probability alpha = kappa^2 / (1 + kappa^2), where

    1 / kappa = min over a of sqrt(a' S1 a) + sqrt(a' S0 a),  a'(m1 - m0) = 1.

As in that paper the minimum is found by turns: with the two deviations d1 and d0 held, what is left
is the Fisher discriminant of S1 / d1 + S0 / d0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmviz.machines.fisher import KernelFisherClassifier, discriminant, moments

#: Turns at most, and the change of 1 / kappa, as a share of it, that ends them.
MOST_TURNS, ENOUGH = 100, 1e-8


class MinimaxProbabilityClassifier(KernelFisherClassifier):
    """Kernel minimax probability machine for two classes: every training row has a weight.

    Parameters
    ----------
    kernel : callable, default=None
        A kernel of `kmviz.kernels`. None is `RBF(1 / (d var(X)))`, scikit-learn's "scale".
    regularization : float, default=1e-3
        Added to the diagonal of the covariances, as a share of its mean.

    Attributes
    ----------
    machine_ : KernelMachine
    classes_ : array of shape (2,)
    worst_accuracy_ : float
        alpha: what share is answered rightly at worst, if mean and covariance of the training
        rows are the true ones.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kmviz.papers.minimax import MinimaxProbabilityClassifier
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> clf = MinimaxProbabilityClassifier().fit(X, y)
    >>> clf.score(X, y) > clf.worst_accuracy_
    True
    """

    def _solve(
        self, K: NDArray[np.float64], codes: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], float]:
        centers, within = moments(K, codes)
        for c in (0, 1):
            within[c] *= len(K) / max(int(np.sum(codes == c)), 1)  # covariances, class by class
        shares, before = (1.0, 1.0), np.inf
        for _ in range(MOST_TURNS):
            beta, means = discriminant(centers, within, self.regularization, shares)
            deviations = np.sqrt(np.maximum([beta @ part @ beta for part in within], 1e-300))
            spread = max(float(means[1] - means[0]), 1e-300)
            now = float(deviations.sum()) / spread  # 1 / kappa
            if now > (1.0 - ENOUGH) * before:
                break
            before, shares = now, (1.0 / deviations[0], 1.0 / deviations[1])
        kappa = 1.0 / max(now, 1e-150)
        self.worst_accuracy_ = float(1.0 / (1.0 + now * now))
        # b = a'm1 - kappa sqrt(a' S1 a), in units of the spread
        bias = float(means[1] - kappa * deviations[1])
        return beta, bias
