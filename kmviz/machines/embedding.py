"""A transformer that brings rows to the form in which a plain kernel reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

#: The least constant column, beside a length of 1, that a row is taken back by.
LEAST = 1e-6


class KernelEmbedding(TransformerMixin, BaseEstimator):
    """Rows under which a kernel is plain: `kernel(X, Z) == kernel.plain(embed(X), embed(Z))`.

    An SVC with a normalised kernel is fast as a pipeline of this and an SVC with a string
    kernel, and such a pipeline can be stored.

    Parameters
    ----------
    kernel : kernel of `kmviz.kernels`

    Examples
    --------
    >>> from kmviz.kernels import Normalized, Polynomial
    >>> from kmviz.machines import KernelEmbedding
    >>> rows = KernelEmbedding(Normalized(Polynomial(degree=2))).fit_transform([[2.0, 2.0]])
    >>> (rows**2).sum().round(12).item()
    1.0
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> KernelEmbedding:
        """Learn nothing but the number of columns."""
        validate_data(self, X, dtype=[np.float64, np.float32])
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Return the embedded rows."""
        check_is_fitted(self, "n_features_in_")
        return self.kernel.embed(
            validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        )

    def inverse_transform(self, Z: ArrayLike) -> NDArray[Any]:
        """Return rows whose embedding points the way that Z does, up to its sign.

        Lengths are lost where the kernel is normalised; a row without a counterpart, whose constant
        column is 0, ends very far away.
        """
        check_is_fitted(self, "n_features_in_")
        Z = np.asarray(Z)
        if Z.shape[1] == self.n_features_in_:
            return Z
        # [sqrt(gamma) u, sqrt(coef0)], at any length
        inner = self.kernel.kernel.plain
        last = np.where(Z[:, -1:] < 0, -1.0, 1.0) * np.maximum(np.abs(Z[:, -1:]), LEAST)
        return Z[:, :-1] / last * np.sqrt(inner.coef0 / inner.gamma)
