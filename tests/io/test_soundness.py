"""A stored model whose arrays do not fit together is refused before a loop reads them."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, SVR, NuSVR, OneClassSVM

import kmviz
from kmviz.io import storage
from kmviz.kernels import Polynomial
from kmviz.methods.register import METHODS

X, y = make_moons(120, noise=0.2, random_state=0)


def fitted(name, **parameters):
    method = next(method for method in METHODS if method.name == name)
    return method.cls(**parameters).fit(X, y)


def refused(thing, match):
    with pytest.raises(storage.StorageError, match=match):
        kmviz.load(storage.dumps(thing))


@pytest.mark.parametrize("name", [method.name for method in METHODS])
def test_what_was_not_touched_is_loaded(name):
    clf = fitted(name)
    again = kmviz.load(storage.dumps(clf))
    np.testing.assert_array_equal(again.predict(X), clf.predict(X))


@pytest.mark.parametrize("name", [method.name for method in METHODS])
def test_what_leaves_out_the_model_it_replaces_is_loaded(name):
    clf = fitted(name)
    again = kmviz.load(storage.dumps(clf, slim=True))
    np.testing.assert_array_equal(again.predict(X), clf.predict(X))
    assert getattr(again, "estimator_", None) is None


def test_an_svc_that_counts_vectors_it_does_not_have():
    svc = SVC().fit(X, y)
    m = len(svc.support_)
    svc._n_support = np.array([m + 10**6, -(10**6)], dtype=np.int32)
    refused(svc, "_n_support")


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("support_vectors_", np.zeros((3, 2))),
        ("_dual_coef_", np.zeros((1, 4))),
        ("_intercept_", np.zeros(3)),
        ("support_", np.array([10**6] * 40, dtype=np.int32)),
        ("C", 1e300),
        ("_gamma", np.inf),
    ],
)
def test_an_svc_with_other_arrays(attribute, value):
    svc = SVC().fit(X, y)
    setattr(svc, attribute, value)
    refused(svc, "does not describe an estimator")


@pytest.mark.parametrize("kind", [SVR, NuSVR, OneClassSVM])
@pytest.mark.parametrize("counts", [[], [1], [0, 0], [10**6, -(10**6)], None])
def test_a_machine_without_classes_that_counts_other_vectors(kind, counts):
    svm = kind().fit(X, y)
    m = len(svm.support_)
    svm._n_support = np.array([m] if counts is None else counts, dtype=np.int32)
    refused(svm, "_n_support")


def test_an_svc_of_many_classes_is_loaded():
    rows, labels = load_iris(return_X_y=True)
    svc = SVC().fit(rows, labels)
    assert (kmviz.load(storage.dumps(svc)).predict(rows) == svc.predict(rows)).all()


@pytest.mark.parametrize("name", ["children_left", "children_right", "start", "sv_index", "depth"])
@pytest.mark.parametrize("value", [10**6, -7, 0])
def test_a_tree_that_leads_astray(name, value):
    clf = fitted("svtree")
    array = getattr(clf.engines_[0].tree, name)
    if value == 0 and name in ("start", "sv_index"):  # as good as any other
        value = len(array) + 10**5
    array[0] = value
    refused(clf, "does not describe an estimator")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("beta", np.zeros(3)),
        ("sides", np.full(500, 10**6)),
        ("ends", np.array([10**6])),
        ("coordinates", np.zeros((1, 1))),
        ("n_first", 10**6),
    ],
)
def test_nearest_vectors_whose_tables_do_not_fit(name, value):
    clf = fitted("nsv")
    engine = clf.engines_[0]
    engine.candidates = engine.candidates._replace(**{name: value})
    engine.tables = engine.candidates
    refused(clf, "does not describe an estimator")


@pytest.mark.parametrize("name", ["center_of_", "centers_"])
def test_local_models_that_are_not_there(name):
    clf = fitted("falk", n_neighbors=20)
    getattr(clf, name)[0] = 10**6
    refused(clf, name)


def test_local_models_of_rows_that_are_not_there():
    clf = fitted("falk", n_neighbors=20)
    clf.models_.index[0] = 10**6
    refused(clf, "index")
    clf = fitted("falk", n_neighbors=20)
    clf.models_.starts[-1] = 10**6
    refused(clf, "starts")


def test_local_models_of_classes_that_are_not_there():
    clf = fitted("falk", n_neighbors=20)
    clf.models_.n_classes = 10**6
    refused(clf, "n_classes")


def test_a_cover_tree_that_leads_in_a_circle():
    clf = fitted("falk", n_neighbors=20, kernel=Polynomial(degree=2))
    index = clf.index_
    if not hasattr(index, "child"):
        pytest.fail("this kernel is not searched by a cover tree any more")
    index.sibling[index.root] = index.root
    refused(clf, "circle")


def test_bounds_whose_factor_does_not_fit():
    clf = fitted("anytime")
    clf.engines_[0].factor = clf.engines_[0].factor[:2, :2]
    refused(clf, "factor")


def test_a_machine_that_is_not_finite():
    clf = fitted("exact")
    clf.machine_.beta[0] = np.nan
    refused(clf, "beta")


def test_a_pipeline_that_would_write_folders(tmp_path):
    pipeline = make_pipeline(StandardScaler(), SVC(), memory=str(tmp_path / "there")).fit(X, y)
    refused(pipeline, "memory")


@pytest.mark.parametrize(
    ("step", "name", "value"),
    [
        (0, "n_output_features_", 0),
        (0, "_n_out_full", 0),
        (1, "scale_", 0.5),
        (1, "mean_", None),
        (1, "var_", [1.0]),
    ],
)
def test_a_step_that_does_not_know_its_columns(step, name, value):
    pipeline = make_pipeline(PolynomialFeatures(2), StandardScaler(), SVC()).fit(X, y)
    setattr(pipeline[step], name, value)
    refused(pipeline, name)


def test_a_scaler_that_only_centers_is_loaded():
    pipeline = make_pipeline(StandardScaler(with_std=False), SVC()).fit(X, y)
    again = kmviz.load(storage.dumps(pipeline))
    np.testing.assert_array_equal(again.predict(X), pipeline.predict(X))
