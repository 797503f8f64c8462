"""Why a query stopped where it did, in one sentence with its numbers, read from its record."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from kmviz.traces import (
    AnytimeTrace,
    LocalTrace,
    NSVTrace,
    ReducedTrace,
    SumTrace,
    Trace,
    TreeTrace,
)


@singledispatch
def why(record: Trace) -> str:
    """Return the sentence; a record that says nothing more ends with its steps."""
    return f"It took all of its {record.stop:,} steps."


@why.register
def _nsv(record: NSVTrace) -> str:
    k = record.stop
    if record.filtered:
        ends = f"[{record.filter_low:.3g}, {record.filter_high:.3g}]"
        return (
            f"The linear filter said {record.filter_output:.3g}, outside {ends}, where it was "
            "never wrong in calibration: no support vector was asked."
        )
    if k == record.n_steps and record.low[k] <= record.partial[k] <= record.high[k]:
        return f"g never left the band, so all {k:,} support vectors were asked: the sum is f(x)."
    g, low, high = record.partial[k], record.low[k], record.high[k]
    if record.deciding >= 0:
        size, g, low, high = record.stages[record.deciding]
    is_high = g > high
    end = high if is_high else low
    passed = f"g = {g:.3g} {'rose above H' if is_high else 'fell below L'} = {end:.3g}"
    seen = "further than any calibration query of the other class had leaned by then"
    if 0 <= record.deciding < record.n_reduced:
        return f"{size:.0f} reduced vectors were enough: {passed}, {seen}."
    if k == 0:
        return f"The approximation of all terms was enough: {passed}, {seen}."
    return f"After the start and {counted(k)} {passed}, {seen}."


@why.register
def _anytime(record: AnytimeTrace) -> str:
    k = record.stop
    low, high = record.lower[k], record.upper[k]
    if low > 0 or high < 0:
        side = "above" if low > 0 else "below"
        return (
            f"After {_values(k)} f(x) lies in [{low:.3g}, {high:.3g}], all of it {side} 0: "
            "nothing still unknown can change the sign."
        )
    return (
        f"After {_values(k)} the interval [{low:.3g}, {high:.3g}] still held 0, so the exact sum "
        "was taken."
    )


@why.register
def _tree(record: TreeTrace) -> str:
    return (
        f"After {counted(record.stop)} its path ends, the tree goes no deeper here: the sum is "
        f"{record.output:.3g}, {abs(record.output - record.exact):.2g} from f(x)."
    )


@why.register
def _local(record: LocalTrace) -> str:
    if not record.stop:
        return (
            f"The neighbours of row {record.center} are all of one class: no kernel value is "
            "needed."
        )
    return (
        f"The model around row {record.center} has only {counted(record.stop)}, and all of them "
        f"were asked: they add up to {record.output:.3g}."
    )


@why.register
def _reduced(record: ReducedTrace) -> str:
    k = record.stop
    if record.low[k] <= record.partial[k] <= record.high[k]:
        return _sum(record)
    end = record.high[k] if record.partial[k] > record.high[k] else record.low[k]
    return (
        f"After {counted(k, '')} the sum {record.partial[k]:.3g} was beyond {end:.3g}, further "
        "than any calibration query of the other class had leaned by then."
    )


@why.register(SumTrace)
def _sum(record: SumTrace | ReducedTrace) -> str:
    return (
        f"All {counted(record.stop, '')} were asked, for every query alike: they add up to "
        f"{record.output:.3g}, {abs(record.output - record.exact):.2g} from f(x)."
    )


def counted(count: int, kind: str = "support ") -> str:
    """Return a number of vectors in words."""
    return f"{count:,} {kind}vector{'s' * (count != 1)}"


def _values(count: int) -> str:
    return f"{count:,} kernel value{'s' * (count != 1)}"


def pulls(record: Trace) -> np.ndarray:
    """Return by how much each step moved the sum, 0 at the start."""
    partial = record.arrays()["partial"]
    return np.diff(partial, prepend=partial[:1])
