"""A trial that promises numbers: a regressor's values, or a classifier's scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from kmviz.evaluation.trial import Request, Trial
from kmviz.methods.anytime import AnytimeRegressor
from kmviz.methods.exact import ExactClassifier, ExactRegressor
from kmviz.methods.reduced import ReducedSetClassifier, ReducedSetRegressor

Values = NDArray[np.float64]

#: The tolerance of values where none is given, as a share of the spread of the model's own.
SHARE = 0.01

#: Values are read alike that differ by no more than this share of the largest.
ROUNDING = 1e-6


class ValueTrial(Trial):
    """A trial that promises numbers: one counts as changed where it is off by the tolerance."""

    what = "values"

    #: What is offered; a proof keeps those of the second line within the tolerance.
    NAMES = ("exact", "anytime", "exact_float32", "reduced_5", "reduced")
    CERTIFIED = ("exact", "anytime")

    def __init__(self, fitted: Any, X: Any, request: Request) -> None:
        self.is_regressor = is_regressor(fitted)
        super().__init__(fitted, X, request)

    @property
    def tolerance(self) -> float:
        """How far a value may be off."""
        given = self.request.tolerance
        return SHARE * float(self.own.std()) if given is None else given

    @classmethod
    def known(cls, fitted: Any) -> list[str]:
        return [name for name in cls.NAMES if name != "anytime" or is_regressor(fitted)]

    def offered(self, certified: bool) -> list[str]:
        return [name for name in self.known(self.fitted) if self.is_certified(name) == certified]

    def is_certified(self, name: str) -> bool:
        return name in self.CERTIFIED

    def answers(self, model: Any, X: Any) -> Values:
        values = model.predict(X) if self.is_regressor else model.decision_function(X)
        return np.asarray(values, dtype=np.float64)

    def differ(self, answers: Values, own: Values) -> NDArray[np.bool_]:
        return np.abs(answers - own) > self.tolerance

    def _read(self) -> Any:
        return self._made("exact").fit(self.X)

    def _rounding(self) -> float:
        return max(self.tolerance, ROUNDING * (1.0 + float(np.abs(self.own).max())))

    def _describe_reading(self, group: NDArray[np.intp]) -> dict[str, Any]:
        checked = {"checked": len(self.own), "distinct": self.distinct}
        return checked | {"tolerance": self.tolerance}

    def _made(self, name: str) -> Any:
        if name == "anytime":
            return AnytimeRegressor(self.frozen, tolerance=self.tolerance)
        if name.startswith("exact"):
            dtype = "float64" if name == "exact" else "float32"
            cls: Any = ExactRegressor if self.is_regressor else ExactClassifier
            return cls(self.frozen, dtype=dtype)
        reduced: Any = ReducedSetRegressor if self.is_regressor else ReducedSetClassifier
        return reduced(self.frozen, n_vectors=0.05 if name == "reduced_5" else 0.1)
