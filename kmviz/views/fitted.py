"""From a page's choices to a fitted method: one declaration fits, reads, and writes the code.

A page says which method it shows, with which parameters (what has to be fitted) and which choice
(what its study reads again). The estimator to take home and the lines of Python that rebuild it
come from the same two mappings.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from kmviz.evaluation.cost import step_summary
from kmviz.methods.register import Method
from kmviz.traces import Reading
from kmviz.views.problem import Problem

#: Test rows that a study reads; more are sampled, evenly.
MOST_ROWS = 2_000
#: But so many, however large the machine is.
FEWEST_ROWS = 400


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


@dataclass(frozen=True, eq=False)
class MethodView:
    """A fitted method, read under one choice.

    Attributes
    ----------
    now : Shown
    choice : mapping
        What its study reads again, as parameters of the estimator.
    values : mapping
        The values that it was made from, by URL parameter.
    classifier : object
        The classifier under that choice.
    trace : Trace
        Its record of the selected query.
    page : object
        What a page keeps beside them.
    """

    now: Shown
    choice: Mapping[str, Any]
    values: Mapping[str, Any]
    classifier: Any
    trace: Any
    page: Any = None

    @cached_property
    def reading(self) -> Any:
        """What it answers to all queries."""
        return self.now.study.read(**self.choice)

    def cost(self) -> int:
        """Return the kernel evaluations that the selected query takes."""
        place = np.flatnonzero(self.now.rows == self.now.problem.query)
        if len(place):
            return int(self.reading.steps[place[0]])
        return int(self.classifier.steps(self.now.problem.x[None])[0])


def kept_rows(problem: Problem, most: int) -> int:
    """Return how many rows may be walked to their end before their sums take so many bytes.

    A study keeps these sums, and reads them again at each place of a slider; walking again for
    each place would take minutes where there are many vectors.
    """
    return max(FEWEST_ROWS, most // (8 * (problem.n_vectors + 1)))


def fit(
    problem: Problem,
    known: Method,
    parameters: Mapping[str, Any],
    over: Shown | None,
    source: Callable[[tuple, Callable[[], Any]], Any],
) -> tuple[Any, float]:
    """Return the fitted classifier and the seconds that it took.

    A classifier that differs from another in nothing that takes training is refitted from it.

    Parameters
    ----------
    source : returns a classifier that others are refitted from, by a key, or makes it
    """
    start = time.perf_counter()
    refits = getattr(known.cls, "refits", ())
    if not refits:
        return _fit_anew(problem, known, parameters, over), time.perf_counter() - start
    trained = {name: value for name, value in parameters.items() if name not in refits}
    key = (problem.key, known.name, tuple(sorted(trained.items())), over and over.method.name)
    found = source(key, lambda: _fit_anew(problem, known, parameters, over))
    others = {name: value for name, value in parameters.items() if name in refits}
    if not found.get_params(deep=False).items() >= others.items():
        found = found.refitted(**others)
    return copy(found), time.perf_counter() - start  # without what calibrates it


def _trains(known: Method, problem: Problem) -> bool:
    """Return whether a method trains SVMs of its own to calibrate; never beside a given model."""
    return known.proves_rate and problem.yours is None


def _fit_anew(problem: Problem, known: Method, parameters: Mapping[str, Any], over: Any) -> Any:
    X, y = problem.data.X_train, problem.data.y_train
    parameters = {
        name: value.of(problem) if isinstance(value, Rows) else value
        for name, value in parameters.items()
    }
    if not known.takes_frozen:
        return known.cls(**parameters).fit(X, y)
    given = problem.estimator if over is None else over.study.fitted
    machine = clone(given) if _trains(known, problem) else FrozenEstimator(given)
    return known.cls(machine, **parameters).fit(X, y)


def code(
    problem: Problem, known: Method, parameters: Mapping[str, Any], over: Shown | None = None
) -> str:
    """Return the lines of Python that rebuild a method on a problem."""
    given = "svc" if over is None else over.method.name
    imports, lines = _lines(known, parameters, "clf", given, _trains(known, problem))
    if over is not None:
        trains = _trains(over.method, problem)
        below = _lines(over.method, over.parameters, over.method.name, "svc", trains)
        imports, lines = [*below[0], *imports], [*below[1], *lines]
    if problem.query is not None:
        lines.append(f"trace = clf.trace(X_test[{problem.query}])")
    return "\n".join([problem.code, *dict.fromkeys(imports), "", *lines, ""])


def _lines(
    known: Method, parameters: Mapping[str, Any], name: str, given: str, trains: bool
) -> tuple[list[str], list[str]]:
    """Return the imports and the lines that fit a method, `name`, to the machine `given`."""
    cls = known.cls.__name__
    words = [f"{key}={value!r}" for key, value in parameters.items()]
    imports = [f"from kmviz import {cls}"]
    if known.takes_frozen and trains:
        imports.insert(0, "from sklearn.base import clone")
        words.insert(0, f"clone({given})")
    elif known.takes_frozen:
        imports.insert(0, "from sklearn.frozen import FrozenEstimator")
        words.insert(0, f"FrozenEstimator({given})")
    else:
        imports.append("from kmviz.kernels import *")
    return imports, [f"{name} = {cls}({', '.join(words)})", f"{name}.fit(X, y)"]
