"""Kernels whose reduced set is a formula.

- Linear: Psi is itself a row, sum_i a_i s_i. One vector says everything.
- Homogeneous quadratic: Psi is the symmetric matrix M = sum_i a_i s_i s_i', and
  <M, z z'> = z'M z. The best n vectors are the eigenvectors of the n eigenvalues that are
  largest in size, their weights the eigenvalues (Burges 1996, section 4.1; Eckart and Young).
"""

from __future__ import annotations

import numpy as np

from kmviz.methods.reduction.objective import Floats, Target


def directions(target: Target, degree: int) -> Floats:
    """Return the best vectors, the most telling first, at unit length."""
    if degree == 1:
        psi = target.beta @ target.rows
        length = np.linalg.norm(psi)
        return psi[None] / length if length > 0 else target.rows[:1]
    M = (target.rows * target.beta[:, None]).T @ target.rows
    values, vectors = np.linalg.eigh((M + M.T) / 2.0)
    order = np.argsort(-np.abs(values), kind="stable")
    kept = order[np.abs(values[order]) > 1e-12 * max(np.abs(values).max(), 1e-300)]
    return vectors[:, kept if len(kept) else order[:1]].T
