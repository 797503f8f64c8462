"""Methods fitted on the problem at hand, their studies and frames: computed once and cached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kmviz.methods.register import method
from kmviz.methods.study import Study
from kmviz.traces import Frames
from kmviz.ui.runtime.jobs import Cache
from kmviz.ui.runtime.memory import estimate, refusal
from kmviz.ui.runtime.problem import stop
from kmviz.views.fitted import MOST_ROWS, MethodView, Shown, fit
from kmviz.views.problem import Problem

_fitted, _frames = Cache("fitted"), Cache("frames", is_large=True)
_studies, _traces = Cache("study", is_large=True), Cache("traces")
#: Classifiers that others are refitted from: they hold what calibrates them.
_sources = Cache("source", is_large=True)


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
    parameters : parameters of the estimator beside the SVM; hashable values
    most : rows to study at most
    over : the method whose SVM is to be served, in place of the problem's
    is_kept : whether its study is cached: not where what is read from it is
    """
    known, n = method(name), len(problem.data.X_test)
    needed = estimate(problem, name, min(n, most))
    if needed.is_too_large:
        stop(refusal(problem, name, needed))
    below = () if over is None else (over.method.name, *sorted(over.parameters.items()))
    key = (problem.key, name, tuple(sorted(parameters.items())), below)

    def source(key: tuple, make: Any) -> Any:
        return _sources.get(key, make, f"{known.title}:")

    clf, seconds = _fitted.get(
        key, lambda: fit(problem, known, parameters, over, source), f"{known.title}:"
    )
    rows = np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.intp))
    X = problem.data.X_test[rows]
    if is_kept:
        text = f"{known.title}: asking all queries"
        study = _studies.get((*key, most), lambda: clf.study(X), text)
    else:
        study = clf.study(X)
    return Shown(problem, known, dict(parameters), rows, study, key, seconds, over)


def view_of(now: Shown, choice: Mapping[str, Any], values: Mapping[str, Any]) -> MethodView:
    """Return a method under one choice of what its study reads again, and the query's trace."""
    key = (*now.key, tuple(sorted(choice.items())), now.problem.query)
    classifier = now.study.classifier(**choice)
    text = f"{now.method.title}: one query"
    trace = _traces.get(key, lambda: classifier.trace(now.problem.x), text)
    return MethodView(now, choice, values, classifier, trace)


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
