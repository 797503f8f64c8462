"""Which machine and query each embedded data set opens with: `python -m benchmarks.defaults`.

Cross-validation on the training rows that the app shows, over the steps of its own sliders. A set
whose plain machine (C = 10, gamma `scale`) comes within a point of the best keeps it; the others
get the best, the smoothest of equals. What is printed is `kmviz.views.openings.MACHINES` and
`QUERIES`.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from kmviz import datasets
from kmviz.methods.nsv import NSVClassifier
from kmviz.views import nsv, openings, prepare
from kmviz.views.controls import CONTROLS, GAMMAS

COSTS = (1.0, 10.0, 100.0)
PLAIN = (10.0, "scale")
#: A point of accuracy: what may be lost for a plain machine.
POINT = 0.01
#: Rows that are tried: fewer of images.
MOST_ROWS, MOST_VALUES = 2_000, 300_000


def scores(name: str, grid: list[tuple[float, float | str]]) -> list[float]:
    """Return the mean accuracy of five folds for each (C, gamma)."""
    data = prepare.prepare(prepare.load(name, None, 0, None), "", None).data
    most = min(MOST_ROWS, MOST_VALUES // data.X_train.shape[1])
    rows = np.random.default_rng(0).permutation(len(data.y_train))[:most]
    X, y = data.X_train[rows], data.y_train[rows]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return [
        float(cross_val_score(SVC(C=C, gamma=gamma, max_iter=200_000), X, y, cv=folds).mean())
        for C, gamma in grid
    ]


def choose(name: str) -> tuple[float, float | str]:
    """Return C and gamma for a data set."""
    grid: list[tuple[float, float | str]] = [PLAIN, *product(COSTS, GAMMAS)]
    found = scores(name, grid)
    if found[0] >= max(found) - POINT:
        return PLAIN
    best = [pair for pair, score in zip(grid, found, strict=True) if score == max(found)]
    return min(best, key=lambda pair: (pair[1], pair[0]))


def query(name: str) -> int:
    """Return the test row that a data set opens with: the first easy one, 0 where there is none."""
    data = prepare.prepare(prepare.load(name, None, 0, None), "", None).data
    said = {"C": "10", "gamma": "scale"} | openings.MACHINES.get(name, {})
    gamma = said["gamma"] if said["gamma"] == "scale" else float(said["gamma"])
    svc = SVC(C=float(said["C"]), gamma=gamma)
    opened = {name: CONTROLS[name].default for name in ("w", "filter", "q")}
    method = NSVClassifier(svc, n_components=opened["q"], random_state=0, **nsv.read_by(opened))
    method.fit(data.X_train, data.y_train)
    reading = method.study(data.X_test).read()
    most = openings.SHARE * method.machine_.n_vectors
    few = (reading.steps >= openings.FEWEST) & (reading.steps <= most)
    return int(np.argmax(few & ((reading.outputs > 0) == (data.y_test > 0))))


def main() -> None:
    """Print the tables."""
    for name in datasets.names():
        C, gamma = choose(name)
        if (C, gamma) != PLAIN:
            print(f'    "{name}": {{"C": "{C:g}", "gamma": "{gamma:g}"}},')
    for name in datasets.names():
        print(f'    "{name}": {query(name)},')


if __name__ == "__main__":
    main()
