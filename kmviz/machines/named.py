"""Kernels by name: the words of a URL, of a command line and of `SVC`, and what they mean.

| word | kernel |
|---|---|
| `linear` | u.v |
| `poly` | (gamma u.v + coef0)^degree |
| `rbf` | exp(-gamma ‖u - v‖²) |
| `poly_normalized` | (u.v + coef0)^degree over the lengths of both |

Everything that turns a word into an estimator, or an estimator into a kernel, asks here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from kmviz.kernels import RBF, Known, Linear, Normalized, Polynomial

#: The words, in the order in which they are offered.
NAMES = ("linear", "poly", "rbf", "poly_normalized")


def named_kernel(name: str, gamma: float = 1.0, degree: int = 3, coef0: float = 0.0) -> Known:
    """Return the kernel that a word means, once gamma is a number.

    Parameters
    ----------
    name : {"linear", "poly", "rbf", "poly_normalized"}
    gamma, degree, coef0 : as in `SVC`; what a kernel has no use for is not read

    Examples
    --------
    >>> from kmviz.machines.named import named_kernel
    >>> named_kernel("poly", gamma=0.5, degree=2, coef0=1.0)
    Polynomial(degree=2, gamma=0.5, coef0=1.0)
    """
    if name == "linear":
        return Linear()
    if name == "rbf":
        return RBF(float(gamma))
    if name == "poly":
        return Polynomial(degree=degree, gamma=float(gamma), coef0=float(coef0))
    if name == "poly_normalized":
        return Normalized(Polynomial(degree=degree, gamma=1.0, coef0=float(coef0)))
    raise ValueError(
        f"kernel={name!r} is not supported: it is no Mercer kernel in general. "
        "Use 'linear', 'poly', 'rbf' or a kernel of kmviz.kernels."
    )


def gamma_for(gamma: float | str, X: NDArray[Any]) -> float:
    """Return gamma as a number for training rows X; "scale" and "auto" as in `SVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.machines.named import gamma_for
    >>> gamma_for("auto", np.ones((3, 2)))
    0.5
    """
    if gamma == "scale":
        variance = float(X.var(dtype=np.float64))
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    return 1.0 / X.shape[1] if gamma == "auto" else float(gamma)


def kernel_parameters(
    name: str, gamma: float | str = "scale", degree: int = 3, coef0: float = 1.0
) -> dict[str, Any]:
    """Return a word as parameters of `SVC`, or of a method that trains local machines.

    Only what the kernel reads is named. The normalised polynomial, which libsvm does not know,
    comes as a kernel of `kmviz.kernels`.

    Examples
    --------
    >>> from kmviz.machines.named import kernel_parameters
    >>> kernel_parameters("poly", degree=2)
    {'kernel': 'poly', 'gamma': 'scale', 'degree': 2, 'coef0': 1.0}
    """
    if name == "rbf":
        return {"kernel": name, "gamma": gamma}
    if name == "poly":
        return {"kernel": name, "gamma": gamma, "degree": degree, "coef0": coef0}
    return {"kernel": name if name == "linear" else named_kernel(name, 1.0, degree, coef0)}


def named_svc(
    name: str, C: float, gamma: float | str = "scale", degree: int = 3, coef0: float = 1.0,
    **others: Any,
) -> SVC:  # fmt: skip
    """Return the unfitted SVC that a word describes; `others` are parameters of `SVC`.

    Examples
    --------
    >>> from kmviz.machines.named import named_svc
    >>> named_svc("poly", C=10.0, degree=2, gamma=0.5).coef0
    1.0
    """
    return SVC(C=C, **kernel_parameters(name, gamma, degree, coef0), **others)


def string_kernel(plain: Linear | Polynomial | RBF) -> dict[str, Any]:
    """Return the SVC parameters that mean the same as a plain kernel.

    Examples
    --------
    >>> from kmviz.kernels import RBF
    >>> from kmviz.machines.named import string_kernel
    >>> string_kernel(RBF(gamma=0.5))
    {'kernel': 'rbf', 'gamma': 0.5}
    """
    if isinstance(plain, RBF):
        return kernel_parameters("rbf", plain.gamma)
    if isinstance(plain, Polynomial):
        return kernel_parameters("poly", plain.gamma, plain.degree, plain.coef0)
    return kernel_parameters("linear")
