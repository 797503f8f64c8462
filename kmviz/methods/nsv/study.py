"""Nearest support vectors read again under other thresholds.

The partial outputs g_0 .. g_m of a query do not depend on window, margin and filter; only where
it stops does. A study walks the rows to their end once and stops them again under each choice,
by the loop's own rule (`kmviz.loops.nsv_walk.read`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kmviz.loops.nsv_stages import BY_FILTER, BY_WALK
from kmviz.methods.nsv.engine import NSVEngine
from kmviz.methods.nsv.walker import Answers, Walks
from kmviz.methods.progress import report
from kmviz.methods.study import Study, Values
from kmviz.traces import NSVReading

if TYPE_CHECKING:
    from kmviz.methods.nsv.classifier import NSVClassifier

WINDOWS = range(201)
MARGINS = (0.0, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)

#: Bytes of partial outputs that a study keeps; rows beyond are walked anew for each choice.
MOST_BYTES = 64 * 2**20


class NSVStudy(Study):
    """Rows under any `window`, `margin` and (where it was fitted with one) `linear_filter`.

    A classifier that promises a rate (`max_disagreement`) has proved it for its own choice:
    under another one it promises nothing, and its margin stays where the proof put it. That is
    no fresh fit, which would prove anew.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kmviz import NSVClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> study = NSVClassifier(random_state=0).fit(X, y).study(X)
    >>> bool((study.read(window=50).steps >= study.read(window=0).steps).all())
    True
    """

    fitted: NSVClassifier

    def __init__(self, fitted: NSVClassifier, X: Any) -> None:
        super().__init__(fitted, X)
        self._rows = fitted._rows(X)
        self._walks: OrderedDict[Any, Walks] = OrderedDict()

    @property
    def readings(self) -> Mapping[str, Values]:
        """Name of each choice -> the values it may take."""
        margins = tuple(sorted({*MARGINS, self.fitted.margin_}))
        filters = (True, False) if self.fitted.linear_filter else (False,)
        return {"window": WINDOWS, "linear_filter": filters, "margin": margins}

    def _read(self, window: int, linear_filter: bool, margin: float | None) -> NSVReading:
        engines = self._under(window, linear_filter, margin)
        found = [self._answers(place, engine) for place, engine in enumerate(engines)]
        return self._reading(engines, found, self._margin(margin))

    def _reading(self, engines: list[NSVEngine], found: list[Answers], margin: float) -> NSVReading:
        clf = self.fitted
        runs = clf._compared(self._rows, [(one.output, one.touched + 1) for one in found])
        outputs = np.column_stack([output for output, _ in runs])
        steps = np.sum([taken for _, taken in runs], axis=0)
        overhead = sum(engine.overhead for engine in engines)
        if clf.shared_ is not None:  # which answers in place of the pairs
            shared = clf.shared_.under(margin)
            taken = np.empty(outputs.shape, dtype=np.intp)
            told = shared.run(self._rows)
            outputs = shared.finish(self._rows, engines, clf.rule_, told, taken)[0]
            steps = taken.sum(axis=1)
            overhead = shared.overhead(engines)
        stage = _columns([one.stage for one in found])
        return NSVReading(
            **self._common(clf.rule_.scores(outputs), steps, overhead),
            stop=_columns([e.stop_of(one) for e, one in zip(engines, found, strict=True)]),
            filtered=stage == BY_FILTER,
            stage=np.maximum(stage, BY_WALK),
            low=_thresholds([engine.limits.low for engine in engines]),
            high=_thresholds([engine.limits.high for engine in engines]),
        )

    def _classifier(self, window: int, linear_filter: bool, margin: float | None) -> Any:
        fitted = self.fitted
        if self.choice == {"window": window, "linear_filter": linear_filter, "margin": margin}:
            return fitted
        found = copy(fitted)
        if fitted.max_disagreement is not None:
            found.set_params(max_disagreement=None)
            margin = fitted.margin_ if margin is None else margin
        found.set_params(window=window, linear_filter=linear_filter, margin=margin)
        found.margin_ = self._margin(margin)
        found.promise_ = None
        found._adopt(self._under(window, linear_filter, margin))
        if found.shared_ is not None:
            found.shared_ = found.shared_.under(found.margin_)
        found.count_overhead()
        return found

    def _margin(self, margin: float | None) -> float:
        return self.fitted.margin_ if margin is None else float(margin)

    def _under(self, window: int, linear_filter: bool, margin: float | None) -> list[NSVEngine]:
        """The engines under a choice."""
        key = (self._margin(margin), linear_filter)
        return [engine.under(int(window), *key) for engine in self.fitted.engines_]

    def _answers(self, place: int, engine: NSVEngine) -> Answers:
        """What an engine says of the rows: read from recorded walks, where they can be kept."""
        size = 8 * len(self._rows) * (engine.machine.n_vectors + 1)
        if not engine.compiled or size > MOST_BYTES // len(self.fitted.engines_):
            return engine.answers(self._rows)
        # What the stages say is rounded as they come, so walks are kept for each set of them.
        key = (place, tuple(engine.stages))
        if key not in self._walks:
            report(place / len(self.fitted.engines_), "walking to the end")
            self._walks[key] = engine.record(self._rows)
            self._forget()
        self._walks.move_to_end(key)
        return engine.read(self._walks[key])

    def _forget(self) -> None:
        """Keep no more walks than there is room for: the latest."""
        while sum(w.partial.nbytes for w in self._walks.values()) > MOST_BYTES:
            self._walks.popitem(last=False)


def _columns(found: list[NDArray[Any]]) -> NDArray[Any]:
    return found[0] if len(found) == 1 else np.column_stack(found)


def _thresholds(found: list[NDArray[Any]]) -> NDArray[Any]:
    """One row for each pair, filled up with nan; of one pair the thresholds alone."""
    if len(found) == 1:
        return found[0]
    whole = np.full((len(found), max(map(len, found))), np.nan)
    for row, values in zip(whole, found, strict=True):
        row[: len(values)] = values
    return whole
