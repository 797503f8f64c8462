"""ExactScores: a fast method's labels, with the scores of the machine it stands in for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from kmviz.methods.base import MachineClassifier


def _has_probabilities(clf: Any) -> bool:
    return hasattr(getattr(clf, "classifier_", clf.classifier), "predict_proba")


class ExactScores(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A fast classifier whose scores are the exact machine's.

    `predict` is the fast method's, at its price. `decision_function` asks the exact machine about
    the rows that it is given, at the price of all support vectors: for ranking a few, for another
    cut, for calibration.

    Parameters
    ----------
    classifier : classifier
        A method on a trained machine. One that is fitted already is taken as it is.

    Attributes
    ----------
    classifier_ : classifier
        The fitted method.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from kmviz import ExactScores, SVTreeClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> tree = SVTreeClassifier(random_state=0).fit(X, y)
    >>> scored = ExactScores(tree).fit(X, y)
    >>> bool(np.allclose(scored.decision_function(X), tree.estimator_.decision_function(X)))
    True
    >>> bool((scored.predict(X) == tree.predict(X)).all())
    True
    """

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> ExactScores:
        """Fit the classifier, unless it is fitted."""
        if not isinstance(self.classifier, MachineClassifier):
            raise TypeError(
                f"classifier must be a method on a trained machine, which has exact scores; got "
                f"{type(self.classifier).__name__}."
            )
        try:
            check_is_fitted(self.classifier)
            self.classifier_ = self.classifier
        except NotFittedError:
            self.classifier_ = clone(self.classifier).fit(X, y)
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        return self.classifier_.classes_

    @property
    def n_features_in_(self) -> int:
        return self.classifier_.n_features_in_

    @property
    def promise_(self) -> Any:
        """What the fast method promises of its labels."""
        return self.classifier_.promise_

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row, by the fast method."""
        check_is_fitted(self, "classifier_")
        return self.classifier_.predict(X)

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the exact machine's score of each row."""
        check_is_fitted(self, "classifier_")
        return self.classifier_.exact_function(X)

    @available_if(_has_probabilities)
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class, where the model has them."""
        return self.classifier_.predict_proba(X)
