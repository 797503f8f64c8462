"""A transformer that brings rows to the form in which a plain kernel reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data


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
