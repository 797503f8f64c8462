"""A fresh process loads whatever `save` writes and answers the same; the rest is never written.

Half a hundred models and every classifier take a while: a fixed sample of them is tried, and all
of them where the environment says FULL=1.
"""

import os
import pickle
import random
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.svm import SVC

import kmviz
from benchmarks.models import MODELS
from kmviz.cli.main import main
from kmviz.io.storage import StorageError
from kmviz.machines import KernelFisherClassifier
from kmviz.methods.register import METHODS

X, NUMBERS = make_moons(80, noise=0.15, random_state=0)

WORDS = np.array(["no", "yes"])[NUMBERS]
LABELS = {
    "text": WORDS,
    "objects": WORDS.astype(object),
    "booleans": NUMBERS == 1,
    "pandas strings": pd.Series(WORDS, dtype="string"),
    "categories": pd.Series(WORDS, dtype="category"),
}
CLASSIFIERS = {cls.__name__: cls for cls in [*(m.cls for m in METHODS), KernelFisherClassifier]}

#: Models with a part that `load` takes only where it is trusted by name, and that name.
REFUSED = {
    "SVC, kernel of one's own": "sklearn.metrics.pairwise.rbf_kernel",
    "SelectKBest + SVC": "sklearn.feature_selection._univariate_selection.f_classif",
    "subclass with its own predict": "benchmarks.models.Cautious",
}

LABELLED = [(name, kind) for name in CLASSIFIERS for kind in LABELS]
KEPT, SAMPLE = [name for name in MODELS if name not in REFUSED], random.Random(0)
if os.environ.get("FULL") != "1":
    LABELLED, KEPT = SAMPLE.sample(LABELLED, 16), SAMPLE.sample(KEPT, 6)

READER = """
import pickle, sys
import numpy as np
import kmviz
for number, (path, rows, answers) in enumerate(pickle.load(open(sys.argv[1], "rb"))):
    found = kmviz.load(path).predict(rows)
    same = np.allclose(found, answers) if answers.dtype.kind == "f" else (found == answers).all()
    print(int(same))
"""


def _fitted(name):
    """A model of the benchmarks, and rows that it can be asked about."""
    model, rows, how = MODELS[name]
    given = rows()
    fitted = how(model, given) if callable(how) else model.fit(*given[:2])
    return (FrozenEstimator(fitted) if how == "frozen" else fitted), given[2][:200]


def _all():
    """Every model to store: its name, itself and rows to ask it about."""
    for name, kind in LABELLED:
        yield (name, kind), CLASSIFIERS[name]().fit(X, LABELS[kind]), X
    for name in KEPT:
        model, rows = _fitted(name)
        yield (name, "model"), model, rows
        yield (name, "exact"), kmviz.accelerate(model, rows, method="exact"), rows


@pytest.fixture(scope="module")
def answered_alike(tmp_path_factory):
    """Of each stored model, whether a process that loads them all answers as it did."""
    folder, stored = tmp_path_factory.mktemp("models"), {}
    for key, model, rows in _all():
        path = folder / f"{len(stored)}.skops"
        kmviz.save(model, path)
        stored[key] = (path, rows, np.asarray(model.predict(rows)))
    listed = folder / "all.pickle"
    listed.write_bytes(pickle.dumps(list(stored.values())))
    command = [sys.executable, "-c", READER, str(listed)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(zip(stored, done.stdout.split(), strict=True))


@pytest.mark.parametrize("key", LABELLED, ids=" ".join)
def test_a_classifier_is_read_back_with_labels_of_any_kind(key, answered_alike):
    assert answered_alike[key] == "1"


@pytest.mark.parametrize("name", KEPT)
def test_a_model_is_read_back_as_it_came_and_made_exact(name, answered_alike):
    assert answered_alike[name, "model"] == answered_alike[name, "exact"] == "1"


@pytest.mark.parametrize(("name", "part"), REFUSED.items())
def test_a_part_that_load_would_refuse_is_named_and_stored_only_if_trusted(name, part, tmp_path):
    (model, rows), path = _fitted(name), tmp_path / "m.skops"
    with pytest.raises(StorageError, match=f"cannot be stored, because it holds {part}, "):
        kmviz.save(model, path)
    assert not list(tmp_path.iterdir())
    kmviz.save(model, path, trusted=[part])
    assert (kmviz.load(path, trusted=[part]).predict(rows) == model.predict(rows)).all()


def test_a_part_of_the_replaced_model_alone_is_left_out_of_a_slim_file(tmp_path):
    tuned = TunedThresholdClassifierCV(SVC(), cv=2).fit(X, WORDS)
    fast, path = kmviz.ExactClassifier(FrozenEstimator(tuned)).fit(X), tmp_path / "m.skops"
    with pytest.raises(StorageError, match=r"_CurveScorer, .*: leave out .* by slim=True"):
        kmviz.save(fast, path)
    kmviz.save(fast, path, slim=True)
    assert (kmviz.load(path).predict(X) == tuned.predict(X)).all()


@pytest.mark.parametrize("kind", LABELS)
def test_the_commands_read_what_they_write(kind, tmp_path):
    frame = pd.DataFrame(X, columns=["left", "right"])
    fast, answers = tmp_path / "fast.skops", tmp_path / "answers.csv"
    model = SVC().fit(frame, LABELS[kind])
    kmviz.save(model, tmp_path / "svc.skops")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    read = [str(tmp_path / "svc.skops"), str(tmp_path / "rows.csv")]
    assert main(["-q", "accelerate", *read, "--out", str(fast), "--method", "exact"]) == 0
    assert main(["-q", "predict", str(fast), read[1], "--out", str(answers)]) == 0
    found = pd.read_csv(answers, dtype=str).iloc[:, -1]
    assert found.tolist() == np.asarray(model.predict(frame)).astype(str).tolist()
