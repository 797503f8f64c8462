"""Local models read again: which of them answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kmviz.methods.study import Study, Values
from kmviz.traces import LocalReading

SELECTS = ("point", "center")


class FaLKStudy(Study):
    """Choice `select`: the centre of the nearest training point, or the nearest centre.

    The models are the same under both, and so is what a fresh fit with either gives. A local model
    answers exactly: every row agrees, and `exact` is what its model put out.
    """

    @property
    def readings(self) -> Mapping[str, Values]:
        return {"select": SELECTS}

    def _classifier(self, **choice: Any) -> Any:
        return self.fitted if choice == self.choice else self.fitted.selecting(choice["select"])

    def _read(self, **choice: Any) -> LocalReading:
        fitted = self._classifier(**choice)
        outputs = fitted.decision_function(self.X)
        model, nearest = fitted.apply(self.X), fitted.nearest(self.X)
        return LocalReading(
            outputs=outputs,
            steps=fitted.models_.sizes()[model],
            agrees=fitted.winners(outputs) == fitted.winners(outputs),
            exact=outputs,
            overhead=float(fitted.overhead_),
            model=model,
            nearest=nearest,
            center=fitted.centers_[model],
        )
