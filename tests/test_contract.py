"""One contract for every classifier, whatever its paper.

scikit-learn's own checks stand with each method; here is what kmviz adds to them.
"""

import dataclasses
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kmviz
from kmviz.kernels import RBF
from kmviz.machines import KernelMachine

CLASSIFIERS = [
    cls for name in kmviz.__all__ if name.endswith("Classifier") for cls in [getattr(kmviz, name)]
]
ON_A_MACHINE = [cls for cls in CLASSIFIERS if "estimator" in cls().get_params()]
every = pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.__name__)
on_a_machine = pytest.mark.parametrize("cls", ON_A_MACHINE, ids=lambda cls: cls.__name__)

X, Y = make_moons(160, noise=0.25, random_state=0)
QUERIES = make_moons(40, noise=0.25, random_state=1)[0]
NAMES = np.array(["no", "yes"])[Y]


def make(cls, **params):
    """An instance, seeded where it takes a seed."""
    clf = cls(**params)
    return clf.set_params(random_state=0) if "random_state" in clf.get_params() else clf


class CountingRBF(RBF):
    """An RBF kernel that counts the values it computes."""

    values = 0

    def __call__(self, A, B):
        CountingRBF.values += len(A) * len(B)
        return super().__call__(A, B)


@every
def test_two_classes(cls):
    clf = make(cls).fit(X, NAMES)
    output = clf.decision_function(QUERIES)
    assert output.shape == (40,)
    np.testing.assert_array_equal(clf.predict(QUERIES), clf.classes_[(output > 0).astype(int)])
    steps = clf.steps(QUERIES)
    assert steps.shape == (40,)
    assert np.issubdtype(steps.dtype, np.integer)
    assert (steps >= 0).all()
    assert clf.overhead_ >= 0


@every
def test_trace_tells_what_was_answered(cls):
    clf = make(cls).fit(X, Y)
    for x in QUERIES[:8]:
        trace = clf.trace(x)
        assert dataclasses.is_dataclass(trace)
        assert trace.output == pytest.approx(clf.decision_function(x[None])[0], rel=1e-9, abs=1e-12)
        frame = trace.to_frame()
        assert 0 <= trace.stop < len(frame)
        with pytest.raises(AttributeError):
            trace.output = 0.0


@on_a_machine
def test_trace_knows_the_exact_answer(cls):
    clf = make(cls).fit(X, Y)
    machine = getattr(clf, "original_", None) if cls.__name__.startswith("Reduced") else None
    machine = machine or clf.machine_
    for x in QUERIES[:5]:
        assert clf.trace(x).exact == pytest.approx(machine.decision_function(x[None])[0], rel=1e-9)


@every
def test_batch_equals_one_at_a_time(cls):
    clf = make(cls).fit(X, Y)
    alone = np.array([clf.decision_function(x[None])[0] for x in QUERIES])
    np.testing.assert_allclose(clf.decision_function(QUERIES), alone, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(clf.steps(QUERIES), [clf.steps(x[None])[0] for x in QUERIES])


@every
def test_three_classes(cls):
    X, y = load_iris(return_X_y=True)
    clf = make(cls).fit(X, y)
    output = clf.decision_function(X)
    assert output.shape == (150, 3)
    np.testing.assert_array_equal(clf.predict(X), output.argmax(axis=1))
    assert clf.score(X, y) > 0.85
    assert clf.steps(X).shape == (150,)
    trace = clf.trace(X[70])
    assert np.isfinite(trace.output)


@every
def test_a_row_of_a_frame_is_a_query(cls):
    frame = pd.DataFrame(X, columns=["a", "b"])
    clf = make(cls).fit(frame, Y)
    assert clf.trace(frame.iloc[3]).output == clf.trace(frame.iloc[3:4]).output


@every
def test_a_pair_that_is_none_is_refused(cls):
    clf = make(cls).fit(X, Y)
    assert clf.trace(X[0], pair=(0, 1)).output == clf.trace(X[0]).output
    with pytest.raises(ValueError, match="pair must be one of"):
        clf.trace(X[0], pair=(0, 7))


@on_a_machine
def test_three_classes_have_a_machine_a_pair(cls):
    X, y = load_iris(return_X_y=True)
    clf = make(cls).fit(X, y)
    assert len(clf.machines_) == 3
    assert all(isinstance(machine, KernelMachine) for machine in clf.machines_)
    assert np.isfinite(clf.trace(X[0], pair=(0, 2)).output)


@on_a_machine
@pytest.mark.parametrize("rows", [1, 40])
def test_a_counting_kernel_agrees_with_steps(cls, rows):
    assert_counts_agree(make(cls, estimator=SVC(kernel=CountingRBF(0.9))).fit(X, Y), rows)


@pytest.mark.parametrize("start", ["approximate", "reduced"])
def test_every_start_of_a_walk_counts_its_values(start):
    svc = SVC(kernel=CountingRBF(0.9), C=10.0)
    clf = kmviz.NSVClassifier(svc, start=start, n_components=1, random_state=0).fit(X, Y)
    assert_counts_agree(clf, 1)


def assert_counts_agree(clf, rows):
    for start in range(0, 40, rows)[:6]:
        asked = QUERIES[start : start + rows]
        CountingRBF.values = 0
        clf.decision_function(asked)
        counted = CountingRBF.values
        if isinstance(
            clf, kmviz.NSVClassifier
        ):  # its start (filter, approximation) counts as one step
            counted += len(asked)
        assert counted == clf.steps(asked).sum()


@on_a_machine
def test_a_frozen_machine_is_taken_as_it_is(cls, monkeypatch):
    svc = SVC(gamma=2.0).fit(X, Y)
    before = pickle.dumps(svc)
    if cls.__name__ != "VirtualSVClassifier":  # retrains by its nature, on a copy
        monkeypatch.setattr(SVC, "fit", None)
    clf = make(cls, estimator=FrozenEstimator(svc)).fit(X)
    agree = np.mean(clf.predict(QUERIES) == svc.predict(QUERIES))
    assert agree >= 0.85
    assert pickle.dumps(svc) == before


@on_a_machine
def test_a_pipeline_inside(cls):
    pipe = make_pipeline(StandardScaler(), SVC(C=5.0))
    clf = make(cls, estimator=pipe).fit(X * [100.0, 0.01], Y)
    assert clf.score(X * [100.0, 0.01], Y) > 0.85


@on_a_machine
def test_a_grid_over_the_machine(cls):
    search = GridSearchCV(make(cls, estimator=SVC()), {"estimator__C": [0.5, 5.0]}, cv=2)
    assert search.fit(X, Y).best_score_ > 0.7


@every
def test_inside_scikit_learn(cls):
    for outer in (
        make_pipeline(StandardScaler(), make(cls)),
        CalibratedClassifierCV(make(cls), cv=2),
        OneVsRestClassifier(make(cls)),
    ):
        assert outer.fit(X, Y).score(X, Y) > 0.7


@every
def test_same_seed_same_answers(cls):
    first, second = make(cls).fit(X, Y), clone(make(cls)).fit(X, Y)
    np.testing.assert_array_equal(
        first.decision_function(QUERIES), second.decision_function(QUERIES)
    )


@every
@pytest.mark.parametrize("kind", ["float32", "list", "frame", "integers"])
def test_kinds_of_input(cls, kind):
    shapes = {
        "float32": X.astype(np.float32),
        "list": X.tolist(),
        "frame": pd.DataFrame(X, columns=["u", "v"]),
        "integers": np.round(X * 20).astype(np.int64),
    }
    rows = shapes[kind]
    clf = make(cls).fit(rows, Y)
    assert np.mean(clf.predict(rows) == Y) > 0.8


@every
@pytest.mark.parametrize(
    "rows",
    [
        np.repeat(X[:20], 6, axis=0),
        X[:120, :1],
        np.column_stack([X[:120], np.ones(120)]),
    ],
    ids=["duplicates", "one column", "a constant column"],
)
def test_awkward_data(cls, rows):
    y = np.repeat(Y[:20], 6) if len(np.unique(rows, axis=0)) == 20 else Y[:120]
    clf = make(cls).fit(rows, y)
    assert np.isfinite(clf.decision_function(rows)).all()
    assert clf.trace(rows[0]).output == pytest.approx(clf.decision_function(rows[:1])[0])


@every
def test_a_stored_estimator_answers_the_same(cls, tmp_path):
    clf = make(cls).fit(X, Y)
    kmviz.save(clf, tmp_path / "clf.skops")
    again = kmviz.load(tmp_path / "clf.skops")
    np.testing.assert_array_equal(again.decision_function(QUERIES), clf.decision_function(QUERIES))
    np.testing.assert_array_equal(again.steps(QUERIES), clf.steps(QUERIES))
    assert again.trace(QUERIES[0]).output == clf.trace(QUERIES[0]).output


@every
@pytest.mark.parametrize(
    ("rows", "labels", "said"),
    [
        (np.full((10, 2), np.nan), Y[:10], "contains NaN"),
        (X, np.zeros(160), "class"),
        (X, Y[:50], "inconsistent numbers of samples"),
        (X[:, 0], Y, "Expected 2D array"),
    ],
    ids=["missing values", "one class", "too few labels", "one dimension"],
)
def test_bad_data_is_refused(cls, rows, labels, said):
    with pytest.raises(ValueError, match=said):
        make(cls).fit(rows, labels)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@every
def test_data_of_tiny_size(cls, dtype):
    rows, queries = ((A * 1e-27).astype(dtype) for A in (X, QUERIES))
    expected = make(cls).fit(X, Y).predict(QUERIES)
    clf = make(cls).fit(rows, Y)
    assert np.mean(clf.predict(queries) == expected) >= 0.95
    alone = [clf.predict(x[None])[0] for x in queries]
    np.testing.assert_array_equal(alone, clf.predict(queries))


@on_a_machine
def test_a_precomputed_kernel_is_refused_before_training(cls):
    with pytest.raises(ValueError, match="keeps no support vectors"):
        make(cls, estimator=SVC(kernel="precomputed")).fit(X, Y)
