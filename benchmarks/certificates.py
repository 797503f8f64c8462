"""What certainty costs: rows that float32 cannot tell, and time beside ten lines of NumPy."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from kmviz import ExactClassifier
from kmviz.machines import KernelMachine, rounding_error, shared
from kmviz.machines.certified import exact_outputs

#: Columns, training rows, queries.
SIZES = {2: (4_000, 20_000), 60: (3_000, 5_000), 784: (3_000, 3_000), 10_000: (600, 600)}


def data(d: int, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Two classes of ordinary rows that overlap, in a few directions that tell them apart."""
    X = rng.normal(size=(n, d))
    k = min(d, 10)
    y = np.sign(X[:, :k] ** 2 @ np.resize([1.0, -1.0], k) + rng.normal(size=n) * 0.5)
    X[:, :k] *= 1.0 + np.sqrt(d) / 10.0
    return X, y


def ten_lines(machine: KernelMachine) -> Callable[[Any], Any]:
    """f by NumPy in float32."""
    kind, gamma, coef0, degree = machine.kernel.code
    Z, beta = machine.vectors.astype(np.float32), machine.beta.astype(np.float32)
    z_sq, bias = np.einsum("ij,ij->i", Z, Z), np.float32(machine.bias)

    def outputs(X: Any) -> Any:
        X = X.astype(np.float32)
        parts = []
        for top in range(0, len(X), 256):
            x = X[top : top + 256]
            K = x @ Z.T
            if kind == 2:
                K *= np.float32(2.0 * gamma)
                K -= np.float32(gamma) * (np.einsum("ij,ij->i", x, x)[:, None] + z_sq)
                np.exp(K, out=K)
            else:
                K = (np.float32(gamma) * K + np.float32(coef0)) ** degree
            parts.append(K @ beta - bias)
        return np.concatenate(parts)

    return outputs


def seconds(call: Callable[[], Any], others: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """Return the shortest CPU times of two calls, taken in turns."""
    best = [np.inf, np.inf]
    for _ in range(rounds):
        for i, each in enumerate((call, others)):
            start = time.process_time()
            each()
            best[i] = min(best[i], time.process_time() - start)
    return best[0], best[1]


def measured(d: int, kernel: str, quick: bool) -> dict[str, Any]:
    """Return one line of the table."""
    rng = np.random.default_rng(d)
    n, queries = SIZES[d]
    X, y = data(d, n + queries, rng)
    svc = SVC(kernel=kernel, C=10.0, degree=3, coef0=1.0).fit(X[:n], y[:n])
    exact = ExactClassifier(FrozenEstimator(svc)).fit(X[:100])
    rows, machine = X[n:], exact.machine_
    asked: list[int] = []

    def counted(kernel: Any, some: Any, *rest: Any) -> Any:
        asked.append(len(some))
        return exact_outputs(kernel, some, *rest)

    with patch.object(shared, "exact_outputs", counted):
        labels = exact.predict(rows)
    plain = ten_lines(machine)
    own, theirs = seconds(lambda: exact.predict(rows), lambda: plain(rows), 3 if quick else 15)
    f = machine.decision_function(rows)
    certain = np.abs(f) > 2.0 * rounding_error(machine, rows)
    return {
        "columns": d,
        "kernel": kernel,
        "vectors": machine.n_vectors,
        "queries": queries,
        "again in float64, %": 100.0 * sum(asked) / queries,
        "left to the model's own rounding": int((~certain).sum()),
        "labels that differ from SVC": int((labels != svc.predict(rows)).sum()),
        "signs that differ from SVC, NumPy": int(((plain(rows) > 0) != (f > 0)).sum()),
        "us a row": 1e6 * own / queries,
        "us a row, NumPy": 1e6 * theirs / queries,
        "times NumPy": own / theirs,
    }


def tables(quick: bool) -> dict[str, pd.DataFrame]:
    """Return the table `certificates`."""
    lines = [measured(d, kernel, quick) for d in SIZES for kernel in ("rbf", "poly")]
    return {"certificates": pd.DataFrame(lines)}
