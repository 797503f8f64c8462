"""One set of vectors for several machines.

Beyond the paper, whose ten machines have vectors of their own. A query that every machine is
asked about has the kernel values of all their vectors at hand; so each machine may put a weight
on each of them, at no further kernel value. With exact weights on the union no machine lies
further from its original than on its own vectors alone. The vectors can then be moved once more,
for all machines together: F is the sum of their F / ||Psi||^2.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from kmviz.kernels import is_known
from kmviz.machines import KernelMachine
from kmviz.methods.reduction.objective import Floats, Target, exact_weights, working_type
from kmviz.methods.reduction.path import descend
from kmviz.methods.reduction.space import Space

#: Kernel values in one block of answers.
BLOCK = 1 << 21


def share(
    originals: list[KernelMachine], Z: Floats, space: Space, max_iter: int | None = 0
) -> tuple[list[KernelMachine], Floats]:
    """Return a machine an original, all on the same vectors, and their rho.

    Parameters
    ----------
    originals : list of KernelMachine
        Of one kernel.
    Z : array of shape (n, d)
        Vectors, as input rows.
    max_iter : int, optional
        Steps of a descent that moves the vectors for all machines together; 0 leaves them where
        they are, None lets the size of the problem decide.
    """
    with threadpool_limits(1):
        target, lengths = _together(originals, space)
        units, scale = space.directions(Z)
        if max_iter != 0:
            moved, _ = descend(target, units, max_iter=max_iter)
            if moved is not None:
                Z = space.back(moved, target.rows)
                units, scale = space.directions(Z)
        K_zz, b = target.plain(units, units), target.plain(units, target.rows) @ target.beta
        weights = exact_weights(K_zz, b)
    # ||Psi - Psi'||^2 = ||Psi||^2 - 2 g'b + g'K_zz g, a machine a column
    own = np.einsum("ij,ij->j", target.beta, target.outputs)
    left = own - np.einsum("ij,ij->j", weights, 2.0 * b - K_zz @ weights)
    weights = weights * lengths / scale[:, None]
    machines = [
        replace(original, vectors=Z, beta=beta)
        for original, beta in zip(originals, weights.T, strict=True)
    ]
    return machines, np.sqrt(np.maximum(left, 0.0))


def outputs(machines: list[KernelMachine], X: NDArray[Any]) -> Floats:
    """Return f of machines that share their vectors, a column each; one kernel value a vector."""
    first, rows = machines[0], X
    kernel, vectors = first.kernel, first.vectors
    if is_known(kernel):
        rows, (vectors, _) = kernel.embed(X), first.embedded(X.dtype)
        kernel = kernel.plain
    weights = np.column_stack([machine.beta for machine in machines]).astype(vectors.dtype)
    result = np.empty((len(X), len(machines)))
    height = max(1, BLOCK // max(1, len(vectors)))
    for top in range(0, len(X), height):
        result[top : top + height] = kernel(rows[top : top + height], vectors) @ weights
    return result - [machine.bias for machine in machines]


def _together(machines: list[KernelMachine], space: Space) -> tuple[Target, Floats]:
    """Return Psi of every machine, brought to length 1, and the lengths."""
    stacked = np.vstack([machine.vectors for machine in machines]).astype(np.float64)
    rows, place = np.unique(stacked, axis=0, return_inverse=True)
    column = np.repeat(np.arange(len(machines)), [machine.n_vectors for machine in machines])
    beta = np.zeros((len(rows), len(machines)))
    np.add.at(beta, (place, column), np.concatenate([machine.beta for machine in machines]))
    units, scale = space.directions(rows)
    target = Target.of(
        space.plain, units, beta * scale[:, None], space.is_homogeneous, working_type(units)
    )
    lengths = np.sqrt(np.maximum(np.einsum("ij,ij->j", target.beta, target.outputs), 0.0))
    lengths[lengths == 0] = 1.0
    return replace(target, beta=target.beta / lengths, outputs=target.outputs / lengths), lengths
