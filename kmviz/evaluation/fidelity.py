"""How often a fast answer differs from the exact one, with what a sample can say about it."""

from __future__ import annotations

from typing import Any

import numpy as np

from kmviz.methods.promise import interval


def disagreement(answers: Any, exact: Any, confidence: float = 0.95) -> dict[str, float]:
    """Count differing answers, with the two-sided Clopper-Pearson interval of their rate.

    Examples
    --------
    >>> from kmviz.evaluation.fidelity import disagreement
    >>> disagreement([1, 1, -1], [1, -1, -1])["disagreements"]
    1
    """
    differ = int(np.sum(np.asarray(answers) != np.asarray(exact)))
    rows = len(np.asarray(exact))
    low, high = interval(differ, rows, confidence)
    return {
        "disagreements": differ,
        "queries": rows,
        "disagreement": differ / rows,
        "disagreement_low": low,
        "disagreement_high": high,
    }
