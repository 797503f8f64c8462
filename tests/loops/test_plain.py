"""Without numba the same answers come, slowly, after one warning."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SCRIPT = """
import sys, warnings
sys.modules["numba"] = None
import numpy as np
from sklearn.datasets import load_iris, make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC, SVR, OneClassSVM
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import kmviz
    names = ["ExactClassifier", "AnytimeClassifier", "NSVClassifier", "SVTreeClassifier",
             "ReducedSetClassifier"]
    classes = [getattr(kmviz, name) for name in names]
assert [type(one.message).__name__ for one in said] == ["SlowLoopsWarning"], said
X, y = make_moons(80, noise=0.2, random_state=0)
svc = SVC(gamma=2.0).fit(X[:40], y[:40])
for cls in classes:
    clf = cls(FrozenEstimator(svc))
    if "n_vectors" in clf.get_params():
        clf.set_params(n_vectors=12)
    clf.fit(X[40:])
    same = np.mean(clf.predict(X) == svc.predict(X))
    alone = np.mean([clf.predict(X[i : i + 1])[0] == clf.predict(X)[i] for i in range(3)])
    assert same == 1.0 if cls in classes[:2] else same > 0.8, (cls, same)
    assert alone == 1.0, cls
X, y = load_iris(return_X_y=True)
svc = SVC().fit(X, y)
exact = kmviz.ExactClassifier(FrozenEstimator(svc)).fit(X)
assert (exact.predict(X[::9]) == svc.predict(X[::9])).all()
values = kmviz.AnytimeRegressor(SVR()).fit(X[:30], X[:30, 0])
assert np.abs(values.predict(X[:9]) - values.estimator_.predict(X[:9])).max() <= 0.1
assert "numba" not in {name.split(".")[0] for name, one in sys.modules.items() if one}
print("done")
"""


def test_answers_without_numba():
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=environment, cwd=ROOT
    )
    assert found.stdout == "done\n", found.stderr[-2000:]
