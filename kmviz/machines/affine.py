"""Scalers and projections as one map, y = (x - center) A + offset.

A chain of scikit-learn's transformers spends hundreds of microseconds on checks that a query
which comes alone does not need; the map itself takes two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Affine:
    """y = (x - center) factor + offset, where factor is a number for each column or a matrix.

    Parameters
    ----------
    center : array of shape (d,)
    factor : array of shape (d,) or (d, q)
    offset : array of shape (q,), or None for zeros

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.machines.affine import Affine
    >>> Affine(np.array([1.0, 2.0]), np.array([10.0, 0.5]))(np.array([[2.0, 4.0]]))
    array([[10.,  1.]])
    """

    center: Floats
    factor: Floats
    offset: Floats | None = None

    def __call__(self, X: NDArray[Any]) -> Floats:
        """Map rows of float64."""
        moved = X - self.center
        moved = moved * self.factor if self.factor.ndim == 1 else moved @ self.factor
        return moved if self.offset is None else moved + self.offset

    def scaled(self, center: Any, factor: Any) -> Affine:
        """Follow by (y - center) factor for each column."""
        if self.factor.ndim == 1:
            return Affine(self.center + center / self.factor, self.factor * factor)
        offset = 0.0 if self.offset is None else self.offset
        return Affine(self.center, self.factor * factor, (offset - center) * factor)

    def projected(self, center: Floats, axes: Floats) -> Affine:
        """Follow by (y - center) axes, where axes has a column for each new one."""
        if self.factor.ndim == 1:
            return Affine(self.center + center / self.factor, self.factor[:, None] * axes)
        offset = 0.0 if self.offset is None else self.offset
        return Affine(self.center, self.factor @ axes, (offset - center) @ axes)


def affine(steps: list[Any]) -> Affine | None:
    """Return the chain of fitted transformers as one map of finite rows, or None if it is none.

    StandardScaler, MinMaxScaler (that does not clip), MaxAbsScaler, RobustScaler and PCA are
    such maps; a SimpleImputer leaves finite rows as they are.
    """
    if not steps or not hasattr(steps[0], "n_features_in_"):
        return None
    width = steps[0].n_features_in_
    found = Affine(np.zeros(width), np.ones(width))
    for step in steps:
        after = _followed(found, step)
        if after is None or not np.all(np.isfinite(after.center)):
            return None
        found = after
    return found


def _followed(before: Affine, step: Any) -> Affine | None:
    kind = type(step)
    if kind is StandardScaler:
        return before.scaled(
            step.mean_ if step.with_mean else 0.0, 1.0 / step.scale_ if step.with_std else 1.0
        )
    if kind is RobustScaler:
        return before.scaled(
            step.center_ if step.with_centering else 0.0,
            1.0 / step.scale_ if step.with_scaling else 1.0,
        )
    if kind is MinMaxScaler and not step.clip:
        return before.scaled(-step.min_ / step.scale_, step.scale_)
    if kind is MaxAbsScaler and not getattr(step, "clip", False):
        return before.scaled(0.0, 1.0 / step.scale_)
    if kind is PCA:
        axes = step.components_.T
        if step.whiten:
            tiny = np.finfo(axes.dtype).eps
            axes = axes / np.maximum(np.sqrt(step.explained_variance_), tiny)
        return before.projected(step.mean_, axes)
    is_identity = (
        kind is SimpleImputer
        and isinstance(step.missing_values, float)
        and np.isnan(step.missing_values)
        and not step.add_indicator
        and step.statistics_.dtype.kind == "f"
        and bool(np.isfinite(step.statistics_).all())
    )
    return before if is_identity else None
