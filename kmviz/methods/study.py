"""Studies: what a slider reads of a fitted classifier, without fitting anything again.

`clf.study(X)` computes once, for the rows X, what the readings under every choice have in common.
A *choice* is a value for each of the parameters that can be read again: the window of nearest
support vectors, the height of a tree. `read` then answers for all rows under a choice, `frames`
under many values of one of them, `trace` for one row, and `classifier` hands out the fitted
classifier that answers so.

A method with parameters of that kind subclasses `Study` and names its class in
`PairsClassifier.study_class`; the base serves those without.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kmviz.methods.progress import report
from kmviz.traces import Frames, Reading, Trace, stacked

if TYPE_CHECKING:
    from kmviz.methods.base import PairsClassifier

Values = range | tuple[Any, ...]

#: Values of a choice that `frames` takes unasked.
MOST_FRAMES = 101


class Study:
    """The rows X under every choice that a fitted classifier can be read with.

    Parameters
    ----------
    fitted : classifier
        It is not changed.
    X : array of shape (n, d)
        Queries, as the classifier takes them.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kmviz import SVTreeClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> study = SVTreeClassifier(random_state=0).fit(X, y).study(X)
    >>> list(study.readings)
    ['max_height']
    >>> int(study.read(max_height=3).steps.max())
    3
    >>> study.frames("max_height", [2, 4]).steps.shape
    (2, 200)
    """

    def __init__(self, fitted: PairsClassifier, X: Any) -> None:
        self.fitted = fitted
        self.X = X
        self.exact = fitted.exact_function(X)

    @property
    def readings(self) -> Mapping[str, Values]:
        """Name of each choice -> the values it may take."""
        return {}

    @property
    def choice(self) -> dict[str, Any]:
        """The classifier's own choice."""
        return {name: getattr(self.fitted, name) for name in self.readings}

    def read(self, **choice: Any) -> Any:
        """Return all rows under a choice, as the method's own kind of `Reading`.

        What is not given is the classifier's own.
        """
        return self._read(**self._checked(choice))

    def frames(self, name: str, values: Iterable[Any] | None = None, **choice: Any) -> Frames:
        """Return the readings under many values of one choice, stacked.

        Parameters
        ----------
        name : str
            The choice that varies.
        values : iterable, optional
            None takes all its values, or 101 of them spread evenly where there are more.
        **choice
            The others.
        """
        self._refuse_unknown(name)
        taken = tuple(_spread(self.readings[name]) if values is None else values)
        if not taken:
            raise ValueError(f"values of {name} must not be empty.")
        found = []
        for at, value in enumerate(taken):
            report(at / len(taken), f"{at + 1} of {len(taken)}")
            found.append(self.read(**{**choice, name: value}))
        return stacked(name, taken, found)

    def trace(self, row: int, **choice: Any) -> Trace:
        """Return the record of one row of X under a choice."""
        return self.classifier(**choice).trace(_row_of(self.X, row))

    def classifier(self, **choice: Any) -> Any:
        """Return the fitted classifier under a choice: a copy, nothing is trained."""
        return self._classifier(**self._checked(choice))

    def _read(self, *args: Any, **choice: Any) -> Any:
        """Return the reading under a whole choice, checked."""
        fitted = self._classifier(**choice)
        outputs, steps = fitted.decision_function(self.X), fitted.steps(self.X)
        return Reading(**self._common(outputs, steps, fitted.overhead_))

    def _classifier(self, *args: Any, **choice: Any) -> Any:
        """Return the classifier under a whole choice, checked."""
        return self.fitted

    def _common(self, outputs: Any, steps: Any, overhead: float) -> dict[str, Any]:
        """Return what every reading holds."""
        winner = self.fitted.winners
        return {
            "outputs": outputs,
            "steps": steps,
            "agrees": winner(outputs) == winner(self.exact),
            "exact": self.exact,
            "overhead": float(overhead),
        }

    def _checked(self, choice: Mapping[str, Any]) -> dict[str, Any]:
        own = self.choice
        for name, value in choice.items():
            self._refuse_unknown(name)
            known = self.readings[name]
            if not _is_among(value, known) and value != own[name]:
                raise ValueError(f"{name}={value!r} cannot be read here: it may be {_said(known)}.")
        return own | dict(choice)

    def _refuse_unknown(self, name: str) -> None:
        if name not in self.readings:
            known = ", ".join(self.readings) or "none"
            raise TypeError(
                f"{type(self.fitted).__name__} has no choice {name!r} to read again; it has: "
                f"{known}. Set other parameters and fit."
            )


def _is_among(value: Any, known: Values) -> bool:
    """Whether a value is one of those known: True is no 1 here, and 2.0 no 2."""
    if isinstance(known, range):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        return whole and int(value) in known
    return any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in known)


def _said(known: Values) -> str:
    if isinstance(known, range):
        return f"a whole number from {known.start} to {known.stop - 1}"
    return f"one of {list(known)}"


def _spread(known: Values) -> Values:
    if len(known) <= MOST_FRAMES:
        return known
    places = np.linspace(0, len(known) - 1, MOST_FRAMES).round().astype(int)
    return tuple(known[i] for i in places)


def _row_of(X: Any, row: int) -> Any:
    return X.iloc[row] if hasattr(X, "iloc") else np.asarray(X)[row]
