"""Anytime bounds read after every number of steps: one computation of all bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kmviz.kernels import is_known
from kmviz.methods.anytime.bounds import Bounds, Steps
from kmviz.methods.study import Study, Values
from kmviz.traces import AnytimeReading, Closing


class AnytimeStudy(Study):
    """The rows X under every `max_steps`.

    An order's first k vectors do not depend on how many follow, nor do their numbers: a fresh fit
    with `max_steps=k` answers as the reading does. A kernel that is not of `kmviz.kernels` wants to
    be asked, so each choice then asks it again.
    """

    def __init__(self, fitted: Any, X: Any) -> None:
        super().__init__(fitted, X)
        self._rows = fitted._rows(X)
        self._known = all(is_known(engine.machine.kernel) for engine in fitted.engines_)
        self._steps: list[Steps] = []
        if self._known:
            self._steps = [engine.records(self._rows) for engine in fitted.engines_]

    @property
    def readings(self) -> Mapping[str, Values]:
        """`max_steps`, from 1 to the size of the basis, or of the largest.

        Under "auto" each pair of classes has a limit of its own: then up to the least of these.
        """
        engines = self.fitted.engines_
        last = max(engine.n_steps for engine in engines)
        if self.fitted.max_steps == "auto":
            cut = [e.n_steps for e in engines if e.n_steps < e.machine.n_vectors]
            last = min(cut, default=last)
        return {"max_steps": range(1, max(last, 1) + 1)}

    def closing(self) -> Closing:
        """Return how the intervals close on average, of the two classes' machine."""
        engine = self.fitted.engines_[0]
        steps = self._steps[0] if self._known else recorded(engine, self._rows)
        lower, upper = engine.bounds(self._rows)  # after the step that decides as well
        decided = steps.decided[:, None] & (steps.stop[:, None] <= np.arange(lower.shape[1]))
        return Closing(width=(upper - lower).mean(axis=0), decided=decided.mean(axis=0))

    def _read(self, max_steps: Any) -> AnytimeReading:
        fitted = self._classifier(max_steps)
        steps = self._steps or [recorded(engine, self._rows) for engine in fitted.engines_]
        limits = [engine.n_steps for engine in fitted.engines_]
        found = [at(*each) for each in zip(steps, limits, strict=True)]
        outputs, counts = fitted.settled([(part[0], part[1]) for part in found], self._rows)
        lower, upper, decided = (np.column_stack([part[i] for part in found]) for i in (2, 3, 4))
        one = len(found) == 1
        return AnytimeReading(
            **self._common(fitted.rule_.scores(outputs), counts, fitted.overhead_),
            lower=lower[:, 0] if one else lower,
            upper=upper[:, 0] if one else upper,
            decided=decided[:, 0] if one else decided,
        )

    def _classifier(self, max_steps: Any) -> Any:
        own = max_steps == self.fitted.max_steps
        return self.fitted if own else self.fitted.cut(int(max_steps))


def at(steps: Steps, limit: int) -> tuple[Any, ...]:
    """Return outputs, kernel values, lower, upper and whether decided, after at most `limit`."""
    rows = np.arange(len(steps.stop))
    decided = steps.decided & (steps.stop <= limit)
    last = np.where(decided, steps.stop, np.minimum(limit, steps.lower.shape[1] - 1))
    output = np.where(decided, steps.output, steps.exact)
    counts = steps.asked[rows, last] + np.where(decided, 0, steps.missing[rows, last])
    return output, counts, steps.lower[rows, last], steps.upper[rows, last], decided


def recorded(engine: Bounds, X: Any) -> Steps:
    """Return the same of a kernel that must be asked, by asking it: what `run` says, and bounds."""
    output, steps = engine.run(X)
    lower, upper = engine.bounds(X)
    stop = np.minimum(steps - engine.self_cost, engine.n_steps)
    width = lower.shape[1]
    return Steps(
        lower=lower,
        upper=upper,
        stop=stop,
        decided=steps - engine.self_cost <= engine.n_steps,
        output=output,
        exact=output,
        asked=np.repeat(np.minimum(steps, stop + engine.self_cost)[:, None], width, axis=1),
        missing=np.repeat((steps - stop - engine.self_cost)[:, None], width, axis=1),
    )
