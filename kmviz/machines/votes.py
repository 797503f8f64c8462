"""Which class outputs stand for: at f(x) = 0, for each pair of classes, for each class.

Every method decides by the `Rule` of the model that was handed in, so that its labels are those of
that model's own `predict`. `unbeaten` and `settle` reach the vote of all pairs with fewer of them
evaluated: a class that wins all its pairs cannot be overtaken, however ties are broken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, LinearSVC, NuSVC, OneClassSVM

from kmviz.loops.classes import contenders, first_with_most_votes
from kmviz.machines.fisher import KernelFisherClassifier
from kmviz.machines.reading import reads_rest
from kmviz.machines.unwrap import chain, last_step

Ints = NDArray[np.intp]

#: Outputs of a pair of classes, by its place among `itertools.combinations`, for some rows.
Ask = Callable[[int, Ints], NDArray[Any]]

#: The class that a model answers where f(x) is exactly 0: 1 is the second of two, or of a pair. A
#: threshold of one's own answers the class that it is for (`at_zero`).
AT_ZERO = {
    SVC: 1,
    NuSVC: 1,
    LinearSVC: 0,
    OneClassSVM: 0,  # its classes are -1 and 1
    OneVsRestClassifier: 0,
    CalibratedClassifierCV: 0,
    KernelFisherClassifier: 0,
}


@dataclass(frozen=True)
class Rule:
    """How a model turns the outputs of its machines into classes.

    Attributes
    ----------
    at_zero : {0, 1}
        The class answered where an output is exactly 0: the first or the second of two, or of a
        pair.
    breaks_ties : bool
        With a machine for each pair: whether summed outputs decide between classes of as many
        votes, or the first of them wins, as in an SVC with `break_ties=False`.
    keeps_pairs : bool
        Whether `decision_function` has a column for each pair, as in an SVC with
        `decision_function_shape="ovo"`.
    rest : bool
        Whether there is a machine for each class, against the rest: the class of the largest
        output wins, of equal ones the first.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.machines.votes import Rule
    >>> Rule(at_zero=1).winners(np.array([[0.0], [-1.0]]))
    array([1, 0])
    """

    at_zero: int = 0
    breaks_ties: bool = True
    keeps_pairs: bool = False
    rest: bool = False

    def winners(self, outputs: NDArray[Any]) -> Ints:
        """Return the place of the class of each row, from a column for each machine."""
        if outputs.shape[1] == 1:
            return self.second(outputs[:, 0]).astype(np.intp)
        if self.rest:
            return outputs.argmax(axis=1)
        n_classes = classes_of_pairs(outputs.shape[1])
        if self.breaks_ties:
            return by_votes(outputs, n_classes).argmax(axis=1)
        winner = np.empty(len(outputs), dtype=np.intp)
        outputs = np.ascontiguousarray(outputs, dtype=np.float64)
        first_with_most_votes(outputs, n_classes, self.at_zero == 0, winner)
        return winner

    def second(self, output: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether outputs of two classes stand for the second."""
        return output >= 0 if self.at_zero else output > 0

    def first_loses(self, output: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether outputs of a pair stand for its second class: the first has them > 0."""
        return output <= 0 if self.at_zero else output < 0

    def scores(self, outputs: NDArray[Any]) -> NDArray[np.float64]:
        """Return what `decision_function` makes of a column for each machine."""
        if outputs.shape[1] == 1:
            return outputs[:, 0]
        if self.keeps_pairs or self.rest:
            return outputs
        return by_votes(outputs, classes_of_pairs(outputs.shape[1]))

    def winners_of_scores(self, scores: NDArray[np.float64]) -> Ints:
        """Return the place of the class of each row of `scores`."""
        if scores.ndim == 1 or self.keeps_pairs:
            return self.winners(scores[:, None] if scores.ndim == 1 else scores)
        return (scores if self.breaks_ties else np.rint(scores)).argmax(axis=1)


def rule_of(fitted: Any) -> Rule:
    """Return the rule by which a fitted model decides."""
    last = last_step(fitted)
    if len(getattr(last, "classes_", ())) <= 2:
        return Rule(at_zero(fitted))
    if isinstance(last, SVC | NuSVC):
        keeps = last.decision_function_shape == "ovo"
        breaks = bool(last.break_ties) and not keeps
        return Rule(0 if breaks else 1, breaks, keeps)  # summed outputs: 0 is the first one's
    if reads_rest(last):
        return Rule(rest=True)
    return getattr(last, "rule_", Rule())


def at_zero(fitted: Any) -> int:
    """Return which of two classes a fitted model answers at f(x) = 0; the outermost step decides.

    Examples
    --------
    >>> from sklearn.svm import SVC, LinearSVC
    >>> from kmviz.machines.votes import at_zero
    >>> at_zero(SVC()), at_zero(LinearSVC())
    (1, 0)
    """
    for one in chain(fitted):
        if isinstance(one, FixedThresholdClassifier | TunedThresholdClassifierCV):
            label = getattr(one, "pos_label", None)  # scores >= threshold are its
            return int(label is None or label == one.classes_[1])
        for cls, place in AT_ZERO.items():
            if isinstance(one, cls):
                return place
    return getattr(one, "rule_", Rule()).at_zero


def classes_of_pairs(n_pairs: int) -> int:
    """Return how many classes have so many pairs."""
    return round((1 + (1 + 8 * n_pairs) ** 0.5) / 2)


def by_votes(outputs: NDArray[Any], n_classes: int) -> NDArray[np.float64]:
    """Return scikit-learn's one-against-one aggregation of one column for each pair of classes.

    A class has its votes plus, to break ties, its summed outputs s brought within a third of a
    vote, s / (3 (|s| + 1)). The same as `sklearn.utils.multiclass` computes, by two products in
    place of a loop over pairs, which takes longer than a fast machine does.

    Parameters
    ----------
    outputs : array of shape (n, n_classes (n_classes - 1) / 2)
        Pairs in the order of `itertools.combinations`; one that is not negative speaks for the
        pair's first class.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.machines.votes import by_votes
    >>> by_votes(np.array([[1.0, 1.0, -0.5]]), 3).argmax(axis=1)
    array([0])
    """
    speaks, most = _sides(n_classes)
    lost = (outputs < 0).astype(np.float64)
    sums = outputs @ speaks
    return most - lost @ speaks + sums / (3.0 * (np.abs(sums) + 1.0))


@lru_cache
def _sides(n_classes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return +1 for the first and -1 for the second class of a pair, and votes if all first win."""
    first, second = np.triu_indices(n_classes, 1)
    each = np.eye(n_classes)
    return each[first] - each[second], each[first].sum(axis=0)


def unbeaten(n_rows: int, n_classes: int, ask: Ask, rule: Rule) -> Ints:
    """Return the class that wins all its pairs, for each row; -1 where there is none.

    Classes meet one after the other, and the winner stays. The last one then meets those that lost
    to others. Of c classes c - 1 to 2 c pairs are evaluated in place of c (c - 1) / 2.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.machines.votes import Rule, unbeaten
    >>> outputs = np.array([[1.0, -2.0, -1.0], [1.0, -1.0, 1.0]])  # 0-1, 0-2, 1-2
    >>> unbeaten(2, 3, lambda pair, rows: outputs[rows, pair], Rule())
    array([ 2, -1])
    """
    place = np.zeros((n_classes, n_classes), dtype=np.intp)
    place[np.triu_indices(n_classes, 1)] = np.arange(n_classes * (n_classes - 1) // 2)
    champion = np.zeros(n_rows, dtype=np.intp)
    has_beaten = np.zeros((n_rows, n_classes), dtype=bool)
    for challenger in range(1, n_classes):
        for other in range(challenger):
            rows = np.flatnonzero(champion == other)
            if not len(rows):
                continue
            has_beaten[rows, challenger] = True
            lost = rows[rule.first_loses(ask(int(place[other, challenger]), rows))]
            champion[lost] = challenger
            has_beaten[lost] = False
            has_beaten[lost, other] = True
    for first in range(n_classes):
        for second in range(first + 1, n_classes):
            for own, other in ((first, second), (second, first)):
                rows = np.flatnonzero((champion == own) & ~has_beaten[:, other])
                if len(rows):
                    loses = rule.first_loses(ask(int(place[first, second]), rows))
                    champion[rows[loses == (own == first)]] = -1
    return champion


def settle(
    outputs: NDArray[Any],
    known: NDArray[np.bool_],
    n_classes: int,
    ask: Ask,
    rule: Rule,
    scale: Any = 1.0,
) -> Ints:
    """Return the class that wins all its pairs, where some outputs are known and others guessed.

    Of the classes that no known output beats, the one that the guesses put furthest ahead is asked
    for: its guessed pairs become known, until one has won all of them, or all classes are beaten
    (-1). `outputs` and `known` take what was asked.

    Parameters
    ----------
    outputs : array of shape (n, p)
        Of each pair of classes, in the order of `itertools.combinations`.
    known : array of shape (n, p)
    scale : array of shape (p,)
        What guesses are compared in.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.machines.votes import Rule, settle
    >>> guesses, asked = np.array([[1.0, 0.1, -3.0]]), np.array([[1.0, -2.0, -3.0]])
    >>> known = np.array([[True, False, True]])
    >>> settle(guesses, known, 3, lambda pair, i: asked[i, pair], Rule())
    array([2])
    """
    n, p = outputs.shape
    scale = np.full(p, scale, dtype=np.float64)
    winner, rows = np.full(n, -1), np.arange(n)
    zero_first = rule.at_zero == 0
    while len(rows):
        best, asks = np.empty(len(rows), dtype=np.intp), np.empty((len(rows), p), dtype=bool)
        contenders(outputs, known, rows, scale, n_classes, zero_first, best, asks)
        is_open = asks.any(axis=1)
        winner[rows] = np.where(is_open, -1, best)
        for pair in np.flatnonzero(asks.any(axis=0)):
            asked = rows[asks[:, pair]]
            outputs[asked, pair], known[asked, pair] = ask(int(pair), asked), True
        rows = rows[is_open]
    return winner
