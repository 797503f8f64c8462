"""How often a promise is broken: the whole fit, drawn again and again.

Of each draw 300 rows without labels set the thresholds and prove that at most 3% of the answers
differ, with a confidence of 90%; 4,000 rows say whether that is so. At most one draw in ten may
break it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.datasets import make_blobs, make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from kmviz import NSVClassifier

RATE, CONFIDENCE, CALIBRATION = 0.03, 0.9, 300


def drawn(n_classes: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two moons, or overlapping heaps."""
    if n_classes == 2:
        return make_moons(n, noise=0.3, random_state=seed)
    centers = [[np.cos(a), np.sin(a)] for a in np.arange(n_classes) * 2 * np.pi / n_classes]
    return make_blobs(n, centers=centers, cluster_std=0.5, random_state=seed)


def simulated(start: str, n_classes: int, draws: int) -> dict[str, object]:
    """Fit with a promise, draw after draw, and count how often it is broken."""
    svc = SVC(gamma=2.0).fit(*drawn(n_classes, 150, 0))
    queries = drawn(n_classes, 4_000, 1)[0]
    exact = svc.predict(queries)
    clf = NSVClassifier(
        FrozenEstimator(svc), start=start, max_disagreement=RATE, confidence=CONFIDENCE,
        linear_filter=False, random_state=0,
    )  # fmt: skip
    shares, steps = [], []
    for seed in range(draws):
        clf.fit(drawn(n_classes, CALIBRATION, 2 + seed)[0])
        shares.append(np.mean(clf.predict(queries) != exact))
        steps.append(clf.steps(queries).mean())
    broken = int(np.sum(np.array(shares) > RATE))
    return {
        "start": start, "classes": n_classes, "draws": draws, "broken": broken,
        "allowed": round((1 - CONFIDENCE) * draws), "disagreement_mean": np.mean(shares),
        "steps_mean": np.mean(steps), "m": len(svc.support_),
    }  # fmt: skip


def tables(quick: bool = True) -> dict[str, pd.DataFrame]:
    """Return the table of broken promises."""
    which = [("empty", 2), ("approximate", 2), ("reduced", 2), ("reduced", 4)]
    return {"promise": pd.DataFrame([simulated(*one, 50 if quick else 200) for one in which])}
