"""Frozen records of what happened to a query, step by step.

A trace is all a picture needs: figures read traces and never see an estimator. Arrays over
steps have length K + 1: `a[k]` is the paper's value at step k, `a[0]` its start.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Trace:
    """One query.

    Attributes
    ----------
    exact : float
        f(x) of the exact machine.
    output : float
        What the method answered: `decision_function(x)`.
    stop : int
        The step where it stopped.
    """

    exact: float
    output: float
    stop: int

    @property
    def n_steps(self) -> int:
        """K, the last step the record knows of."""
        return len(self.to_frame()) - 1

    def to_frame(self) -> pd.DataFrame:
        """Return the arrays over k, a row a step."""
        values = ((f.name, getattr(self, f.name)) for f in fields(self))
        arrays: dict[str, Any] = {n: a for n, a in values if isinstance(a, np.ndarray)}
        frame = pd.DataFrame({name: a for name, a in arrays.items() if a.ndim == 1})
        return frame.rename_axis("k")


@dataclass(frozen=True, eq=False)
class SumTrace(Trace):
    """A sum over vectors, taken one after the other and to its end.

    Attributes
    ----------
    partial : array of shape (K + 1,)
        The sum after k vectors, minus the bias; `partial[0]` is -b.
    index : array of shape (K + 1,)
        Which vector of the machine step k touched; -1 at the start.
    value : array of shape (K + 1,)
        Its kernel value; 0 at the start.
    """

    partial: Floats
    index: Ints
    value: Floats
