"""What a server takes of a model that anyone may have made."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC, NuSVC

from kmviz.io import strangers
from kmviz.io.storage import StorageError, dumps
from kmviz.kernels import Normalized, Polynomial
from kmviz.machines import KernelEmbedding
from kmviz.machines.unwrap import last_step

X, y = make_moons(60, noise=0.2, random_state=0)


@pytest.mark.parametrize(
    "model",
    [
        NuSVC(),
        LinearSVC(),
        make_pipeline(MinMaxScaler(), PolynomialFeatures(3), StandardScaler(), SVC()),
        make_pipeline(KernelEmbedding(Normalized(Polynomial(degree=2))), SVC(kernel="poly")),
    ],
    ids=lambda model: str(model)[:40],
)
def test_machines_and_the_steps_before_them_are_taken(model):
    model.fit(X, y)
    again = strangers.load_from_stranger(dumps(model), "m.skops")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), atol=1e-9)
    assert clone(last_step(again)).get_params() == last_step(strangers.checked(
        dumps(model), "m.skops")).get_params()  # fmt: skip


def test_a_server_asks_a_machine_of_its_own_making():
    svc = SVC(gamma=1.0).fit(X, y)
    theirs = strangers.checked(content := dumps(svc), "m.skops")
    ours = strangers.load_from_stranger(content, "m.skops")
    held = {id(value) for value in vars(theirs).values() if isinstance(value, np.ndarray)}
    asked = [ours.support_vectors_, ours._dual_coef_, ours._intercept_, ours._n_support]
    assert not any(np.shares_memory(a, b) for a in asked for b in (
        theirs.support_vectors_, theirs._dual_coef_, theirs._intercept_, theirs._n_support,
    ))  # fmt: skip
    assert not held & {id(value) for value in vars(ours).values()} - {id(theirs.classes_)}


@pytest.mark.parametrize(
    "model",
    [
        GridSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=2, n_jobs=64),
        BaggingClassifier(SVC(), 2, n_jobs=64),
        make_pipeline(FunctionTransformer(np.exp), SVC()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_other_types_are_listed_and_nothing_of_them_is_built(model, monkeypatch):
    if isinstance(model, GridSearchCV | BaggingClassifier):
        content = dumps(model.set_params(n_jobs=None).fit(X, y))
    else:
        content = dumps(model.fit(X, y))
    monkeypatch.setattr(strangers, "built", lambda *_: pytest.fail("it was loaded"))
    with pytest.raises(StorageError, match=r"which is not taken here.*kmviz\.load"):
        strangers.load_from_stranger(content, "m.skops")


def altered(model, step, **attributes):
    model.fit(X, y)
    for name, value in attributes.items():
        setattr(model[step] if step is not None else model, name, value)
    return dumps(model)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (altered(make_pipeline(PolynomialFeatures(2), SVC()), 0, degree=400), "degree"),
        (altered(make_pipeline(PolynomialFeatures(2), SVC()), 0, _max_degree=400), "degree"),
        (altered(make_pipeline(PolynomialFeatures(2), SVC()), 0, _n_out_full=10**8), "_n_out"),
        (altered(SVC(), None, C=1e10), "C is"),
        (altered(make_pipeline(StandardScaler(), SVC()), 0, scale_=np.zeros(2)), "finite"),
        (altered(make_pipeline(StandardScaler(), SVC()), 0, mean_=np.zeros(7)), "mean_"),
        (altered(make_pipeline(StandardScaler(), SVC()), None, memory="/tmp/there"), "memory"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_parameters_that_ask_for_much_are_refused(content, words):
    with pytest.raises(StorageError, match=words):
        strangers.load_from_stranger(content, "m.skops")


def test_a_machine_that_is_trained_again_ends():
    svc = SVC(cache_size=10**6, verbose=False).fit(X, y)
    again = strangers.load_from_stranger(dumps(svc), "m.skops")
    assert again.max_iter == strangers.MOST_ITERATIONS
    assert again.cache_size == 200


def test_a_bomb_is_smaller_here(monkeypatch):
    monkeypatch.setattr(strangers, "MOST_BYTES", 1_000)
    with pytest.raises(StorageError, match="unfolds to"):
        strangers.load_from_stranger(dumps(SVC().fit(X, y)), "m.skops")


@pytest.mark.parametrize("limit", ["MOST_VECTORS", "MOST_NUMBERS"])
def test_more_vectors_than_a_page_can_ask_are_refused(monkeypatch, limit):
    content = dumps(SVC().fit(X, y))
    assert strangers.load_from_stranger(content, "m.skops").n_features_in_ == X.shape[1]
    monkeypatch.setattr(strangers, limit, 5)
    with pytest.raises(StorageError, match="support vectors of 2 columns; at most"):
        strangers.load_from_stranger(content, "m.skops")
