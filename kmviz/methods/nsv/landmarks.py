"""Kernel values of a few vectors for many rows: one matrix product for each block of rows.

Rows of many columns are projected on principal components first (eq. 10, of the support vectors):
a kernel value then costs 64 multiplications and not one for each column. As with eq. 11, projected
rows under a normalised kernel are brought to length 1 again. These are not the values of the
machine's kernel, but as good to regress its outputs on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.kernels import Normalized, power
from kmviz.loops.kernel import RADIAL
from kmviz.machines.soundness import shaped
from kmviz.methods.nsv.layout import input_form, is_normalised, principal_directions, unit_scale

#: Principal components that rows are projected on, where they have more than twice as many columns.
COMPONENTS = 64


class Landmarks:
    """Vectors laid out for matrix products with queries.

    Parameters
    ----------
    vectors : array of shape (n, d)
        Input rows.
    form : kernel
        A kernel of known formula.
    support : array of shape (m, d)
        Rows whose principal components these are.
    dtype : float32 or float64
    """

    form: Any
    into: NDArray[np.floating]
    shift: NDArray[np.floating]
    right: NDArray[np.floating]
    columns: int
    is_radial: bool
    projects: bool
    is_unit: bool

    def __init__(self, vectors: Any, form: Any, support: Any, dtype: Any) -> None:
        self.form, self.is_radial = form, form.code[0] == RADIAL
        self.columns = np.shape(vectors)[1]
        embedded, support = form.embed(vectors), form.embed(np.asarray(support, dtype=np.float64))
        scale = unit_scale(form)
        self.projects = scale is not None and embedded.shape[1] > 2 * COMPONENTS
        self.is_unit = self.projects and is_normalised(form, support)
        center = support.mean(axis=0) if self.is_radial else np.zeros(support.shape[1])
        self.into, self.shift = np.empty((0, 0), dtype), -center.astype(dtype)
        rows = embedded - center
        if self.projects and scale is not None:
            axes = principal_directions(support - center, COMPONENTS)
            into, last = input_form(axes, *scale, vectors.shape[1])
            self.into = np.ascontiguousarray(into.T, dtype=dtype)
            self.shift, rows = (last - axes @ center).astype(dtype), rows @ axes.T
            if self.is_unit:
                rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
        self.right = np.ascontiguousarray(self._columns(rows).T, dtype=dtype)

    def _columns(self, rows: NDArray[Any]) -> NDArray[Any]:
        """What rows as `read` returns them are multiplied by."""
        gamma = self.form.code[1]
        if not self.is_radial:
            return gamma * rows
        # -g||x - z||^2 = 2g x.z - g||x||^2 - g||z||^2
        squares = np.einsum("ij,ij->i", rows, rows)
        return np.column_stack([2.0 * gamma * rows, np.ones(len(rows)), -gamma * squares])

    @property
    def width(self) -> int:
        """Multiplications in a kernel value."""
        return len(self.right)

    def take(self, some: NDArray[np.intp]) -> None:
        """Keep these vectors only, in this order."""
        self.right = np.ascontiguousarray(self.right[:, some])

    @property
    def tables(self) -> tuple[Any, ...]:
        """What the loop reads of them, but for the vectors."""
        return (*self.form.code, self.is_unit, self.into, self.shift)

    def rows(self, X: NDArray[Any]) -> NDArray[Any]:
        """Input rows for the loop, which projects them."""
        if not self.projects and isinstance(self.form, Normalized):
            X = self.form.embed(X)
        dtype = self.right.dtype
        return X if X.dtype == dtype and X.flags.carray else np.require(X, dtype, ["C", "W"])

    def read(self, X: NDArray[Any]) -> NDArray[Any]:
        """Bring input rows to what the vectors are multiplied by."""
        dtype, rows = self.right.dtype, self.rows(X)
        if self.projects:
            rows = rows @ self.into
        rows = rows + self.shift
        if self.is_unit:
            rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-30)
        if not self.is_radial:
            return rows
        left = np.empty((len(rows), self.width), dtype)
        left[:, :-2], left[:, -1] = rows, 1.0
        np.einsum("ij,ij->i", rows, rows, out=left[:, -2])
        left[:, -2] *= dtype.type(-self.form.code[1])
        return left

    def values(self, rows: NDArray[Any], begin: int, end: int) -> NDArray[Any]:
        """Kernel values of rows as `read` returns them and vectors begin..end."""
        found = rows @ self.right[:, begin:end]
        if self.is_radial:
            return np.exp(found, out=found)
        _, _, coef0, degree = self.form.code
        return power(found + found.dtype.type(coef0), degree) if coef0 else power(found, degree)

    def check(self) -> None:
        """Refuse arrays that do not fit together (ValueError)."""
        shaped("right", self.right, None, None)
        width = self.width - 2 * self.is_radial
        shaped("shift", self.shift, width)
        if self.projects:
            shaped("into", self.into, None, width)
