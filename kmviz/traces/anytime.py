"""Records of bounds that close on f(x): the Cholesky bounds of DeCoste."""

from __future__ import annotations

from dataclasses import dataclass

from kmviz.traces.record import Bools, Floats, Ints, Reading, Record, Trace


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
class AnytimeReading(Reading):
    """Anytime bounds: all rows, after at most so many steps.

    With more than two classes the pairs are on a second axis.

    Attributes
    ----------
    lower, upper : array of shape (n,), or (n, pairs)
        The interval around f(x) at the step where the row stopped.
    decided : array of shape (n,), or (n, pairs)
        Whether the interval settled the sign; where not, the exact sum answered.
    """

    lower: Floats
    upper: Floats
    decided: Bools


@dataclass(frozen=True, eq=False)
class Closing(Record):
    """How the intervals of many queries close, step by step.

    Attributes
    ----------
    width : array of shape (K + 1,)
        Mean width of the interval.
    decided : array of shape (K + 1,)
        Share of queries whose sign is certain.
    """

    width: Floats
    decided: Floats
