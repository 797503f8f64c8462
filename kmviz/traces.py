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


@dataclass(frozen=True, eq=False)
class AnytimeTrace(Trace):
    """Bounds that close on f(x).

    Attributes
    ----------
    partial : array of shape (K + 1,)
        f_k(x), what k basis vectors know of f(x); `partial[0]` is -b.
    gap : array of shape (K + 1,)
        Half the width of the interval.
    lower, upper : array of shape (K + 1,)
        L_k(x) and H_k(x).
    residual_sq : array of shape (K + 1,)
        R_k^2(x), what is left of the query.
    w_rest : array of shape (K + 1,)
        What is left of the machine: the length of W beyond k coordinates (spectral order: half
        the range of the eigenvalues that are left).
    q_coords : array of shape (K + 1,)
        Q_k, the query's coordinates; 0 at the start.
    value : array of shape (K + 1,)
        The kernel value of step k; 0 at the start.
    index : array of shape (K + 1,)
        Which vector of the machine step k touched; -1 at the start and for other vectors.
    """

    partial: Floats
    gap: Floats
    lower: Floats
    upper: Floats
    residual_sq: Floats
    w_rest: Floats
    q_coords: Floats
    value: Floats
    index: Ints


@dataclass(frozen=True, eq=False)
class NSVTrace(Trace):
    """Nearest support vectors: the walk of one query, and where it would have gone.

    `stop` is the number of vectors touched: 0 where the filter or the approximation decided.

    Attributes
    ----------
    filtered : bool
        Whether the linear filter decided.
    filter_output, filter_low, filter_high : float
        The filter's output and its thresholds; nan without a filter.
    partial : array of shape (K + 1,)
        g_k. `partial[0]` is the start: -b, or the approximation of the whole sum.
    low, high : array of shape (K + 1,)
        L_k and H_k; the walk stops at the first k with g_k < L_k or g_k > H_k.
    index : array of shape (K + 1,)
        Which vector of the machine step k touches; -1 at the start.
    value, score : array of shape (K + 1,)
        Its exact and its approximate kernel value; 0 at the start.
    stages : array of shape (s, 4)
        Of each stage of the approximation: components, output, low, high. Empty when the sum
        starts empty. The last stage is step 0.
    """

    filtered: bool
    filter_output: float
    filter_low: float
    filter_high: float
    partial: Floats
    low: Floats
    high: Floats
    index: Ints
    value: Floats
    score: Floats
    stages: Floats


@dataclass(frozen=True, eq=False)
class TreeTrace(Trace):
    """Support vector tree: the path of one query. `stop` is its length.

    Attributes
    ----------
    partial : array of shape (K + 1,)
        The tree's output if it were cut at height k; `partial[0]` is -b.
    node : array of shape (K + 1,)
        The node that step k asked; -1 at the start.
    index : array of shape (K + 1,)
        Its vector; -1 at the start. Candidates beside the machine's own count on from m.
    value : array of shape (K + 1,)
        The kernel value; 0 at the start.
    score, threshold : array of shape (K + 1,)
        The path goes left where score <= threshold; infinite where a node does not split.
    """

    partial: Floats
    node: Ints
    index: Ints
    value: Floats
    score: Floats
    threshold: Floats


@dataclass(frozen=True, eq=False)
class ReducedTrace(Trace):
    """Reduced set: the machines of 1, 2, ... vectors, asked in turn.

    `exact` is f of the original machine.

    Attributes
    ----------
    partial : array of shape (K + 1,)
        Output of the first k vectors with the weights that are best for k; `partial[0]` is -b.
    index : array of shape (K + 1,)
        Which reduced vector step k added; -1 at the start.
    value : array of shape (K + 1,)
        Its kernel value; 0 at the start.
    low, high : array of shape (K + 1,)
        A partial output outside of them is safe; infinite where nothing stops early.
    """

    partial: Floats
    index: Ints
    value: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class LocalTrace(SumTrace):
    """The sum over the vectors of one local model.

    `index` holds training rows. A neighbourhood of one class has no vectors: K is 0.

    Attributes
    ----------
    nearest : int
        The training row nearest to the query, in feature space.
    center : int
        The training row at the centre of the model that answered; -1 where the query itself is.
    model : int
        That model's number.
    """

    nearest: int
    center: int
    model: int
