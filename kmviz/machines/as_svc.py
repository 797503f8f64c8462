"""Kernel machines as a plain fitted SVC: the way back from `kmviz.machines.reading`."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from kmviz.kernels import RBF, Linear, Polynomial
from kmviz.machines.machine import KernelMachine
from kmviz.machines.named import string_kernel
from kmviz.machines.reading import differences


def as_svc(
    machines: list[KernelMachine], classes: NDArray[Any], rest: bool = False, **parameters: Any
) -> SVC:
    """Return a fitted SVC whose decision function is that of these machines.

    It needs nothing of kmviz where the kernel is linear, polynomial or radial; any other kernel
    stays the callable that it is.

    Parameters
    ----------
    machines : list of KernelMachine
        One for each pair of classes, in `itertools.combinations` order, of one kernel.
    classes : array of shape (n_classes,)
    rest : bool
        Whether there is a machine for each class instead: pairs then vote by their differences.
    **parameters
        Of `SVC`, such as `break_ties`.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.kernels import RBF
    >>> from kmviz.machines import KernelMachine
    >>> from kmviz.machines.as_svc import as_svc
    >>> machine = KernelMachine([[0.0], [1.0]], [-1.0, 1.0], 0.0, RBF(1.0))
    >>> as_svc([machine], np.array(["a", "b"])).predict([[0.2], [0.9]])
    array(['a', 'b'], dtype='<U1')
    """
    if rest:
        machines = differences(machines)
    kernel = machines[0].kernel
    is_plain = type(kernel) in (Linear, Polynomial, RBF)
    svc = SVC(**(string_kernel(kernel) if is_plain else {"kernel": kernel}), **parameters)
    vectors, weights, counts = _by_class(machines, len(classes))
    bias = np.array([machine.bias for machine in machines])
    m = len(vectors)
    svc.classes_, svc.n_features_in_ = np.asarray(classes), machines[0].n_features
    svc.shape_fit_, svc.fit_status_ = vectors.shape, 0
    svc.class_weight_ = np.ones(len(classes))
    svc.support_ = np.arange(m, dtype=np.int32)
    svc.support_vectors_ = vectors if is_plain else np.empty((0, 0))
    svc.n_iter_ = np.zeros(len(machines), dtype=np.int32)
    svc._n_support = counts
    svc._gamma = float(getattr(kernel, "gamma", 1.0))
    svc._sparse, svc._num_iter = False, svc.n_iter_
    svc._probA, svc._probB = np.empty(0), np.empty(0)
    if not is_plain:
        svc._BaseLibSVM__Xfit = vectors
    # libsvm's two-class output speaks for the first class, scikit-learn's for the second.
    sign = -1.0 if len(classes) == 2 else 1.0
    svc.dual_coef_, svc.intercept_ = weights, -bias
    svc._dual_coef_, svc._intercept_ = sign * weights, sign * -bias
    return svc


def _by_class(
    machines: list[KernelMachine], n_classes: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]:  # fmt: skip
    """Lay vectors and weights out as libsvm does: a vector belongs to a class.

    The machine of classes i < j reads row j - 1 of the weights of class i's vectors (and row i of
    class j's, which stay 0 here). So class i gets the vectors of all machines (i, j).
    """
    rows: list[NDArray[Any]] = []
    columns: list[NDArray[np.float64]] = []
    counts = np.zeros(n_classes, dtype=np.int32)
    seen: dict[bytes, int] = {}
    for (i, j), machine in zip(combinations(range(n_classes), 2), machines, strict=True):
        if j == i + 1:
            seen = {}
        for vector, beta in zip(machine.vectors.astype(np.float64), machine.beta, strict=True):
            place = seen.get(vector.tobytes())
            if place is None:
                place = seen[vector.tobytes()] = len(rows)
                rows.append(vector)
                columns.append(np.zeros(n_classes - 1))
                counts[i] += 1
            columns[place][j - 1] += beta
    vectors = np.array(rows).reshape(len(rows), machines[0].n_features)
    return vectors, np.array(columns).reshape(len(rows), n_classes - 1).T.copy(), counts
