"""From a page's choices to a fitted method: one declaration fits, reads, and writes the code.

A page says which method it shows, with which parameters (what has to be fitted) and which choice
(what its study reads again). The estimator to take home and the lines of Python that rebuild it
come from the same two mappings.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from kmviz.evaluation.cost import step_summary
from kmviz.methods.register import Method, method
from kmviz.methods.study import Study
from kmviz.traces import Frames, Reading
from kmviz.ui.problem import Problem
from kmviz.ui.work import Private, Shelf

#: Test rows that a study reads; more are sampled, evenly.
MOST_ROWS = 2_000
#: But so many, however large the machine is.
FEWEST_ROWS = 400

_fitted, _studies, _frames = Shelf("fitted"), Shelf("study"), Shelf()
#: Classifiers that others are refitted from: they hold what calibrates them.
_sources = Shelf()


@dataclass(frozen=True)
class Rows:
    """Some of the problem's rows as a parameter: what they are in code, and in caches.

    Attributes
    ----------
    text : str
        As the code to take home says it: "X_test".
    """

    text: str

    def of(self, problem: Problem) -> Any:
        """Return the rows."""
        return {"X_train": problem.data.X_train, "X_test": problem.data.X_test}[self.text]

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, repr=False)
class OwnRows(Rows):
    """Rows that a visitor gave, in the units of the data; `text` is that visitor's own."""

    values: tuple[tuple[float, ...], ...] = ()

    def of(self, problem: Problem) -> Any:
        """Return the rows in the scale of the problem's."""
        rows = np.array(self.values)
        return rows if problem.scaler is None else problem.scaler.transform(rows)


def own_rows(problem: Problem, rows: np.ndarray) -> OwnRows:
    """Return rows in the units of the data as a parameter."""
    text = repr(rows.tolist())
    text = text if problem.scaler is None else f"scaler.transform({text})"
    return OwnRows(Private(text), tuple(map(tuple, rows.tolist())))


@dataclass(frozen=True, eq=False)
class Shown:
    """A method as a page shows it.

    Attributes
    ----------
    problem : Problem
    method : Method
    parameters : mapping
        Parameters of the estimator that had to be fitted.
    rows : array
        The test rows studied, as places in `problem.data.X_test`.
    study : Study
    key : tuple
        Stands for all of it in caches.
    fit_seconds : float
        How long it took to fit, when it was fitted.
    over : Shown or None
        The method whose machine this one stands in for; None: that of the problem.
    """

    problem: Problem
    method: Method
    parameters: Mapping[str, Any]
    rows: np.ndarray
    study: Any
    key: tuple
    fit_seconds: float = 0.0
    over: Shown | None = None

    def estimator(self, **choice: Any) -> bytes:
        """Return the fitted classifier under a choice as a .skops file."""
        return self.problem.packed(self.study.classifier(**choice))

    def figures(self, reading: Reading) -> dict[str, float]:
        """Return a reading in figures: its kernel values, `accuracy`, and how many `differ`.

        What differs, differs from the exact machine of the problem.
        """
        problem, answers = self.problem, reading.outputs > 0
        return step_summary(reading.steps, problem.n_vectors, reading.overhead) | {
            "accuracy": float(np.mean(answers == (problem.data.y_test[self.rows] > 0))),
            "differ": int(np.count_nonzero(answers != (problem.exact[self.rows] > 0))),
        }

    def code(self, **choice: Any) -> str:
        """Return the lines of Python that rebuild it."""
        return code(self.problem, self.method, {**self.parameters, **choice}, self.over)


def show(
    problem: Problem,
    name: str,
    parameters: Mapping[str, Any],
    most: int = MOST_ROWS,
    over: Shown | None = None,
    is_kept: bool = True,
) -> Shown:
    """Return a method, fitted on the problem at hand, and its study of the test rows.

    Parameters
    ----------
    name : the method's name in the register
    parameters : parameters of the estimator beside the machine; hashable values
    most : rows to study at most
    over : the method whose machine is to be served, in place of the problem's
    is_kept : whether its study is kept: not where what is read from it is
    """
    known = method(name)
    below = () if over is None else (over.method.name, *sorted(over.parameters.items()))
    key = (problem.key, name, tuple(sorted(parameters.items())), below)
    clf, seconds = _fitted.get(
        key, lambda: _timed(problem, known, parameters, over), f"{known.title}:"
    )
    n = len(problem.data.X_test)
    rows = np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.intp))
    X = problem.data.X_test[rows]
    if is_kept:
        text = f"{known.title}: asking all queries"
        study = _studies.get((*key, most), lambda: clf.study(X), text)
    else:
        study = clf.study(X)
    return Shown(problem, known, dict(parameters), rows, study, key, seconds, over)


def kept_rows(problem: Problem, most: int) -> int:
    """Return how many rows may be walked to their end before their sums take so many bytes.

    A study keeps these sums, and reads them again at each place of a slider; walking again for
    each place would take minutes where there are many vectors.
    """
    return max(FEWEST_ROWS, most // (8 * (problem.n_vectors + 1)))


def study_of(now: Shown, rows: np.ndarray, name: str) -> Study:
    """Return the same classifier's study of other rows; `name` stands for them in the cache."""
    text = f"{now.method.title}:"
    return _studies.get((*now.key, name), lambda: now.study.fitted.study(rows), text)


def frames(now: Shown, name: str, values: Sequence[Any], here: Any = None, **choice: Any) -> Frames:
    """Return the study's readings under many values of a choice: once, whichever query is shown.

    Parameters
    ----------
    here : one value more, which another query may not share
    """
    key = (*now.key, len(now.rows), name, tuple(values), tuple(sorted(choice.items())))
    text = f"{now.method.title}: reading all queries"
    found = _frames.get(key, lambda: now.study.frames(name, values, **choice), text)
    if here is None or here in values:
        return found
    return found.among(here, now.study.read(**{name: here}, **choice))


def _timed(problem: Problem, known: Method, parameters: Mapping[str, Any], over: Any) -> Any:
    """Return the fitted classifier and the seconds that it took."""
    start = time.perf_counter()
    fitted = _fit(problem, known, parameters, over)
    return fitted, time.perf_counter() - start


def _fit(problem: Problem, known: Method, parameters: Mapping[str, Any], over: Any) -> Any:
    """Fit, or have a classifier refitted that differs in nothing that takes training."""
    refits = getattr(known.cls, "refits", ())
    if not refits:
        return _fit_anew(problem, known, parameters, over)
    trained = {name: value for name, value in parameters.items() if name not in refits}
    key = (problem.key, known.name, tuple(sorted(trained.items())), over and over.method.name)
    source = _sources.get(
        key, lambda: _fit_anew(problem, known, parameters, over), f"{known.title}:"
    )
    others = {name: value for name, value in parameters.items() if name in refits}
    if source.get_params(deep=False).items() >= others.items():
        return copy(source)  # without what calibrates it
    return copy(source.refitted(**others))


def _fit_anew(problem: Problem, known: Method, parameters: Mapping[str, Any], over: Any) -> Any:
    X, y = problem.data.X_train, problem.data.y_train
    parameters = {
        name: value.of(problem) if isinstance(value, Rows) else value
        for name, value in parameters.items()
    }
    if not known.takes_frozen:
        return known.cls(**parameters).fit(X, y)
    given = problem.estimator if over is None else over.study.fitted
    machine = clone(given) if known.proves_rate else FrozenEstimator(given)
    return known.cls(machine, **parameters).fit(X, y)


def code(
    problem: Problem, known: Method, parameters: Mapping[str, Any], over: Shown | None = None
) -> str:
    """Return the lines of Python that rebuild a method on a problem."""
    imports, lines = _lines(known, parameters, "clf", "svc" if over is None else over.method.name)
    if over is not None:
        below = _lines(over.method, over.parameters, over.method.name, "svc")
        imports, lines = [*below[0], *imports], [*below[1], *lines]
    if problem.query is not None:
        lines.append(f"trace = clf.trace(X_test[{problem.query}])")
    return "\n".join([problem.code, *dict.fromkeys(imports), "", *lines, ""])


def _lines(
    known: Method, parameters: Mapping[str, Any], name: str, given: str
) -> tuple[list[str], list[str]]:
    """Return the imports and the lines that fit a method, `name`, to the machine `given`."""
    cls = known.cls.__name__
    words = [f"{key}={value!r}" for key, value in parameters.items()]
    imports = [f"from kmviz import {cls}"]
    if known.takes_frozen and known.proves_rate:  # it trains machines of its own to calibrate
        imports.insert(0, "from sklearn.base import clone")
        words.insert(0, f"clone({given})")
    elif known.takes_frozen:
        imports.insert(0, "from sklearn.frozen import FrozenEstimator")
        words.insert(0, f"FrozenEstimator({given})")
    else:
        imports.append("from kmviz.kernels import *")
    return imports, [f"{name} = {cls}({', '.join(words)})", f"{name}.fit(X, y)"]
