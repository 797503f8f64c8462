"""The solution of an SVM as a sheet in balance.

Burges and Schoelkopf (1997), section 2: let each support vector push with a force of size alpha_j
and sign y_j on a stiff sheet that lies along the separating hyperplane of feature space,
perpendicular to it. The constraint sum_j alpha_j y_j = 0 says that the forces cancel, and
Psi = sum_j alpha_j y_j Phi(s_j) that the torques do: along any direction e within the sheet,
sum_j alpha_j y_j <Phi(s_j), e> = <Psi, e> = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmviz.machines.machine import KernelMachine

#: Vectors that the direction within the sheet is sought among.
MOST = 400


@dataclass(frozen=True, eq=False)
class Forces:
    """What pushes on the sheet, and where.

    Attributes
    ----------
    lever : array of shape (m,)
        <Phi(s_j), e>: where along the sheet vector j pushes.
    force : array of shape (m,)
        alpha_j y_j.
    """

    lever: NDArray[np.float64]
    force: NDArray[np.float64]

    @property
    def net_force(self) -> float:
        """Sum of all forces, over the sum of their sizes."""
        return float(self.force.sum() / (np.abs(self.force).sum() or 1.0))

    @property
    def net_torque(self) -> float:
        """Sum of all torques about the middle, over the sum of their sizes."""
        torque = self.force * self.lever
        return float(torque.sum() / (np.abs(torque).sum() or 1.0))


def forces(machine: KernelMachine) -> Forces:
    """Return the forces of a machine along the direction in which its vectors vary most.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.svm import SVC
    >>> from kmviz.machines import KernelMachine
    >>> from kmviz.machines.forces import forces
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> found = forces(KernelMachine.from_estimator(SVC().fit(X, y)))
    >>> abs(round(found.net_force, 6)), abs(round(found.net_torque, 6))
    (0.0, 0.0)
    """
    m = machine.n_vectors
    some = np.unique(np.linspace(0, m - 1, min(m, MOST)).astype(np.intp)) if m else np.arange(0)
    if not m or not np.any(machine.beta):
        return Forces(np.zeros(m), machine.beta.astype(np.float64))
    along = machine.decision_function(machine.vectors) + machine.bias  # <Phi(s_j), Psi>
    norm_sq = float(machine.beta @ along) or 1.0
    K = np.asarray(machine.kernel(machine.vectors, machine.vectors[some]), dtype=np.float64)
    K -= along[:, None] * along[some] / norm_sq  # without what points out of the sheet
    own = K[some] - K[some].mean(axis=0)
    own -= own.mean(axis=1, keepdims=True)
    length, direction = np.linalg.eigh(own)
    lever = K @ direction[:, -1] / np.sqrt(max(length[-1], np.finfo(float).tiny))
    return Forces(lever - lever.mean(), machine.beta.astype(np.float64))
