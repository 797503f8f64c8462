"""Frozen records of what happened to queries: traces of one, step by step, and readings of many.

A record is all a picture needs: figures read records and never see an estimator. It holds
read-only copies, so that nothing done to it reaches the classifier it came from.

Arrays of a trace over steps have length K + 1: `a[k]` is the paper's value at step k, `a[0]` its
start. Arrays of a reading have one entry for each row that was studied.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy that cannot be written to."""
    copy = np.array(array)
    copy.flags.writeable = False
    return copy


@dataclass(frozen=True, eq=False)
class Record:
    """A frozen record; arrays become read-only copies."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                object.__setattr__(self, field.name, frozen(value))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in values if isinstance(value, np.ndarray)}

    def _repr_html_(self) -> str:
        """What a notebook shows: the numbers, then the arrays of one axis."""
        frame = self.to_frame()
        numbers = ", ".join(f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}"
                            for name, value in frame.attrs.items())  # fmt: skip
        return f"<p><b>{type(self).__name__}</b>: {numbers}</p>{frame.to_html(max_rows=12)}"

    def to_frame(self) -> pd.DataFrame:
        """Return the arrays of one axis as columns; everything else stands in `attrs`."""
        import pandas as pd

        columns = {name: array for name, array in self.arrays().items() if array.ndim == 1}
        length = max(map(len, columns.values()), default=0)
        columns = {name: array for name, array in columns.items() if len(array) == length}
        frame = pd.DataFrame(columns)
        others = (field.name for field in fields(self) if field.name not in columns)
        frame.attrs = {name: value for name in others if np.ndim(value := getattr(self, name)) == 0}
        return frame


@dataclass(frozen=True, eq=False)
class Trace(Record):
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
        return max(len(array) for array in self.arrays().values() if array.ndim == 1) - 1

    def to_frame(self) -> pd.DataFrame:
        """Return the arrays over k, a row for each step; `exact`, `output` ... in `attrs`."""
        return super().to_frame().rename_axis("k")


@dataclass(frozen=True, eq=False)
class Reading(Record):
    """What a classifier makes of the rows of a study, under one choice.

    Attributes
    ----------
    outputs : array of shape (n,), or (n, n_classes)
        `decision_function` of each row.
    steps : array of shape (n,)
        Kernel values computed for each row.
    agrees : array of shape (n,)
        Whether the row's class is that of the exact machine.
    exact : array of the shape of `outputs`
        The exact machine's output.
    overhead : float
        What else a query costs, in kernel values.
    """

    outputs: Floats
    steps: Ints
    agrees: Bools
    exact: Floats
    overhead: float

    @property
    def disagreements(self) -> int:
        """How many rows are answered otherwise than by the exact machine."""
        return int(np.count_nonzero(~self.agrees))


@dataclass(frozen=True, eq=False)
class Frames:
    """The readings of many values of one choice, stacked: `frames.steps[i]` is that of value i.

    Every array of the readings is an attribute with one axis more, the values' axis, in front.
    Where an array's length depends on the value (the vectors of a reduced set), short ones are
    filled up at the end: with nan, -1 or False.

    Attributes
    ----------
    name : str
        The choice.
    values : tuple
        Its values, in the order of the first axis.
    """

    name: str
    values: tuple[Any, ...]
    arrays: Mapping[str, NDArray[Any]]

    def __len__(self) -> int:
        return len(self.values)

    def __getattr__(self, name: str) -> NDArray[Any]:
        known = self.__dict__.get("arrays", {})
        if name in known:
            return known[name]
        raise AttributeError(f"Frames have no {name!r}; they have {', '.join(known)}.")


def stacked(name: str, values: tuple[Any, ...], readings: list[Reading]) -> Frames:
    """Return the readings of `values` as frames."""
    arrays = {}
    for field in fields(readings[0]):
        found = [getattr(reading, field.name) for reading in readings]
        if isinstance(found[0], np.ndarray | float | int | bool | np.generic):
            arrays[field.name] = _stack([np.asarray(value) for value in found])
    return Frames(name, values, arrays)


def _stack(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    shape = [max(sizes) for sizes in zip(*(array.shape for array in arrays))]
    kind = arrays[0].dtype.kind
    filler = np.nan if kind == "f" else False if kind == "b" else -1
    whole = np.full((len(arrays), *shape), filler, dtype=arrays[0].dtype)
    for i, array in enumerate(arrays):
        corner: tuple[slice, ...] = tuple(slice(0, n) for n in array.shape)
        whole[i, ...][corner] = array
    whole.flags.writeable = False
    return whole


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
class VoteTrace(Trace):
    """Machines that vote, one after the other.

    `exact` is the output of their mean, which is no part of the vote.

    Attributes
    ----------
    partial : array of shape (K + 1,)
        Votes for minus votes against after k machines, as a share of all K.
    value : array of shape (K + 1,)
        Output of machine k; 0 at the start.
    vote : array of shape (K + 1,)
        Its vote, +1 or -1; 0 at the start.
    """

    partial: Floats
    value: Floats
    vote: Floats


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
class KernelTreeTrace(Trace):
    """Bounds that close on f(x), a node of a kd-tree at a time; `stop` counts the nodes bounded.

    Attributes
    ----------
    lower, upper : array of shape (K + 1,)
        The interval around f(x) after k nodes were opened; K is the number of all nodes.
    """

    lower: Floats
    upper: Floats


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


@dataclass(frozen=True, eq=False)
class NSVTrace(Trace):
    """Nearest support vectors: the walk of one query, and where it would have gone.

    `stop` is the number of support vectors touched: 0 where the filter, reduced vectors or the
    approximation decided.

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
        Of each stage: reduced vectors or components of the approximation, output, low, high.
        Empty when the sum starts empty. The last stage is step 0.
    n_reduced : int
        How many of the stages, the first ones, are of reduced vectors.
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
    n_reduced: int = 0

    @property
    def deciding(self) -> int:
        """The stage that decided, counted from 0; -1 where the filter or the walk did."""
        if self.filtered or self.stop or not len(self.stages):
            return -1
        _, output, low, high = self.stages.T
        return int(((output < low) | (output > high)).argmax())


@dataclass(frozen=True, eq=False)
class NSVReading(Reading):
    """Nearest support vectors under one choice of thresholds.

    `outputs` holds g at the stop. With more than two classes the arrays below have one axis more,
    the pairs' axis: the last of those over rows, the first of the thresholds.

    Attributes
    ----------
    stop : array of shape (n,)
        Vectors touched.
    filtered : array of shape (n,)
        Whether the linear filter decided.
    stage : array of shape (n,)
        The stage that decided, those of reduced vectors first; -1 where none did.
    low, high : array of shape (m + 1,)
        L_k and H_k, which a walk stops beyond; filled up with nan where pairs differ in m.
    """

    stop: Ints
    filtered: Bools
    stage: Ints
    low: Floats
    high: Floats


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
class TreeReading(Reading):
    """Support vector tree: all rows, the tree cut at one height.

    With more than two classes there is a tree for each pair, on an axis after the rows'.

    Attributes
    ----------
    leaf : array of shape (n,), or (n, pairs)
        The node where the row's path ends.
    path : array of shape (n, K), or (n, pairs, K)
        The nodes asked; -1 past a path's end.
    """

    leaf: Ints
    path: Ints


@dataclass(frozen=True, eq=False)
class Partition(Record):
    """What a support vector tree makes of the plane.

    Attributes
    ----------
    leaf : array
        The last node of each cell of a grid (rows by columns), or of each training point where
        the plane is a projection.
    output : array of the shape of `leaf`
        The tree's output there.
    region : array of bool
        Where the node in question is.
    path : array of shape (k, 2)
        The vectors that the query asks, in order.
    name : str
        What the node in question is called.
    """

    leaf: Ints
    output: Floats
    region: Bools
    path: Floats
    name: str


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
class ReducedReading(Reading):
    """A reduced machine, and what it makes of the rows.

    With more than two classes vectors and weights stand one pair of classes after the other (of
    shared vectors every pair has a row of weights), and rho and bias have an entry for each pair.

    Attributes
    ----------
    vectors : array of shape (n_vectors, d)
        As the machine reads them.
    weights : array of shape (n_vectors,)
    rho : float
        ||Psi - Psi'|| / ||Psi||.
    bias : float
        The threshold.
    """

    vectors: Floats
    weights: Floats
    rho: Any
    bias: Any


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


@dataclass(frozen=True, eq=False)
class LocalReading(Reading):
    """Which local model answers each row, and what it says.

    Attributes
    ----------
    model : array of shape (n,)
        The answering model's number.
    nearest : array of shape (n,)
        The training row that the search found: the nearest, or the nearest among the centres.
    center : array of shape (n,)
        The training row at the centre of the answering model.
    """

    model: Ints
    nearest: Ints
    center: Ints


@dataclass(frozen=True, eq=False)
class LocalModel(Record):
    """One local model and the neighbourhood that it was trained on.

    Attributes
    ----------
    model : int
        Its number.
    center : int
        The training row at its centre.
    members : array of shape (k,)
        The training rows that it was trained on, nearest to the centre first.
    n_cover : int
        k': so many of them the centre answers for.
    vectors : array of shape (s,)
        Its support vectors, training rows, over all pairs of classes.
    inner, outer : float
        Distances of the k'-th and of the k-th member from the centre.
    error : float
        nu, the share of the members that the model itself puts into the wrong class.
    """

    model: int
    center: int
    members: NDArray[Any]
    n_cover: int
    vectors: Ints
    inner: float
    outer: float
    error: float


@dataclass(frozen=True, eq=False)
class LocalMap(Record):
    """What there is to draw of local models around one query.

    Attributes
    ----------
    centers : array of shape (M, 2)
        Where the centres stand in the plane.
    inner, outer : arrays of shape (M,)
        Radii of the k'- and the k-neighbourhoods; of no meaning in a projection.
    regions, composed : arrays of shape (len(y), len(x)) or None
        The model that answers at each grid point, and what it says there; None in a projection.
    lines : array of shape (S, 2)
        Local boundaries, each inside its own neighbourhood; a row that is no number stands between
        two lines.
    answering : int
        The model that answers the query.
    nearest : array of shape (2,)
        The training point nearest to the query.
    members, vectors : arrays of shape (k, 2) and (s, 2)
        The neighbourhood of the answering model, and its support vectors.
    n_cover : int
        k', the members that the centre answers for.
    removed : array of shape (r, 2)
        Points that noise reduction would remove; empty where not asked for.
    """

    centers: Floats
    inner: Floats
    outer: Floats
    regions: Ints | None
    composed: Floats | None
    lines: NDArray[Any]
    answering: int
    nearest: Floats
    members: Floats
    vectors: Floats
    n_cover: int
    removed: Floats
