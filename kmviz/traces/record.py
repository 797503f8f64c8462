"""Frozen records, and what all of them share."""

from __future__ import annotations

from bisect import bisect
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

    def among(self, value: Any, reading: Reading) -> Frames:
        """Return these frames and the reading of one value more, in its place among theirs."""
        at = bisect(self.values, value)
        values = (*self.values[:at], value, *self.values[at:])
        arrays = {
            name: frozen(np.insert(array, at, getattr(reading, name), axis=0))
            for name, array in self.arrays.items()
        }
        return Frames(self.name, values, arrays)


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
