"""Files of estimators: whole, safe, and clear when they are neither."""

import io
import json
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

import kmviz
from kmviz.datasets import TableEncoder
from kmviz.io import storage
from kmviz.io.table import TableClassifier
from kmviz.kernels import Normalized, Polynomial
from kmviz.machines import KernelEmbedding, KernelFisherClassifier
from kmviz.methods.register import setting

X, y = make_moons(120, noise=0.15, random_state=0)


def _fitted(name):
    clf = setting(name).make()
    if "estimator" in clf.get_params(deep=False):
        clf.set_params(estimator=SVC(C=10))
    return clf.fit(X, y)


@pytest.mark.parametrize("name", ["nsv", "nsv_approximate", "nsv_reduced", "anytime", "reduced",
                                  "svtree", "svtree_path", "falk_100", "knnsvm",
                                  "virtual"])  # fmt: skip
def test_every_method_answers_the_same_after_a_round_trip(name, tmp_path):
    clf = _fitted(name)
    kmviz.save(clf, tmp_path / "m.skops")
    again = kmviz.load(tmp_path / "m.skops")
    assert type(again) is type(clf)
    np.testing.assert_allclose(again.decision_function(X), clf.decision_function(X), rtol=1e-12)
    assert (again.steps(X) == clf.steps(X)).all()


@pytest.mark.parametrize(
    "estimator",
    [
        kmviz.ExactClassifier(SVC(kernel=Normalized(Polynomial(degree=3)))),
        kmviz.ExactClassifier(make_pipeline(StandardScaler(), SVC())),
        kmviz.ExactClassifier(FrozenEstimator(SVC().fit(X, y))),
        make_pipeline(KernelEmbedding(Normalized(Polynomial(degree=2))), SVC(kernel="poly")),
        KernelFisherClassifier(),
        SVC(),
    ],
    ids=lambda e: type(e).__name__,
)
def test_pipelines_kernels_and_plain_estimators_can_be_stored(estimator):
    clf = estimator.fit(X, y)
    again = kmviz.load(storage.dumps(clf))
    np.testing.assert_allclose(again.decision_function(X), clf.decision_function(X))


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_searches_and_calibrated_classifiers_can_be_stored(method):
    search = GridSearchCV(kmviz.ExactClassifier(SVC()), {"estimator__C": [1, 10]}, cv=2)
    clf = CalibratedClassifierCV(search, method=method, cv=2).fit(X, y)
    again = kmviz.load(storage.dumps(clf))
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


def test_a_table_classifier_keeps_its_encoder():
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": np.where(y, "yes", "no")})
    encoder = TableEncoder.fit(frame, "y")
    model = TableClassifier(encoder, SVC().fit(encoder.transform(frame), encoder.labels(frame)))
    again = kmviz.load(storage.dumps(model))
    assert (again.predict(frame) == model.predict(frame)).all()
    assert set(again.predict(frame)) <= {"yes", "no"}


def test_what_cannot_be_stored_leaves_no_file(tmp_path):
    stuck = make_pipeline(FunctionTransformer(lambda rows: rows), SVC()).fit(X, y)
    with pytest.raises(storage.StorageError):
        kmviz.save(stuck, tmp_path / "m.skops")
    assert list(tmp_path.iterdir()) == []


class Mine(SVC):
    """A type that no list names."""


def test_unknown_types_are_listed_and_refused_unless_allowed():
    content = storage.dumps(Mine().fit(X, y))
    with pytest.raises(storage.StorageError, match="Mine"):
        kmviz.load(content)
    allowed = storage.untrusted_types(content)
    assert (kmviz.load(content, trusted=allowed).predict(X) == Mine().fit(X, y).predict(X)).all()


class Bomb:
    """Writes a file if it is ever unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_a_pickle_is_not_opened(tmp_path, protocol):
    trap = tmp_path / "trap"
    path = tmp_path / "m.skops"
    path.write_bytes(pickle.dumps(Bomb(trap), protocol=protocol))
    with pytest.raises(ValueError, match="pickle"):
        kmviz.load(path)
    assert not trap.exists()


def _archive(schema, extra=()):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        if schema is not None:
            archive.writestr("schema.json", schema)
        for name, content in extra:
            archive.writestr(name, content)
    return buffer.getvalue()


def _function(module, name):
    return {"__class__": name, "__module__": module, "__loader__": "FunctionNode", "protocol": 2}


def _reduce(module, name, *arguments):
    content = [
        {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode",
         "content": json.dumps(a), "is_json": True}
        for a in arguments
    ]  # fmt: skip
    return {
        "__class__": name, "__module__": module, "__loader__": "ConstructorFromReduceNode",
        "protocol": 2,
        "content": {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode",
                    "content": content},
    }  # fmt: skip


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04 and then nothing",
        b"just text",
        _archive(None),
        _archive("not json"),
        _archive("[]"),
        _archive("{}"),
        _archive(json.dumps({"protocol": 10**9})),
        _archive(json.dumps({"protocol": 2, "__loader__": "NoSuchNode", "__class__": "a",
                             "__module__": "b"})),
        _archive(json.dumps(_function("os", "system"))),
        _archive(json.dumps(_function("builtins", "eval"))),
        _archive(json.dumps(_reduce("subprocess", "Popen", "true"))),
        _archive(json.dumps(_reduce("kmviz.kernels", "RBF", -1.0))),
        _archive(json.dumps(_reduce("kmviz.cli.console", "Console"))),
        _archive('{"a":' * 5_000),
    ],
    ids=lambda c: str(c[:10]),  # of an archive without the time that it was made
)  # fmt: skip
def test_malformed_and_hostile_files_are_refused_clearly(content):
    with pytest.raises(storage.StorageError) as caught:
        kmviz.load(content)
    assert len(str(caught.value)) > 20


def test_a_file_changed_on_its_way_is_refused_wherever_it_was():
    content = storage.dumps(_fitted("svtree"))
    for place in range(0, len(content), len(content) // 40):
        changed = bytearray(content)
        changed[place : place + 20] = bytes(b ^ 0x55 for b in changed[place : place + 20])
        with pytest.raises(storage.StorageError):
            kmviz.load(bytes(changed))


def test_an_archive_that_unfolds_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(storage, "MAX_BYTES", 10_000)
    content = _archive("{}", [("a.npy", b"0" * 20_000)])
    with pytest.raises(storage.StorageError, match="unfolds"):
        kmviz.load(content)


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no\.skops"):
        kmviz.load(tmp_path / "no.skops")


def test_only_classes_of_this_package_and_of_scikit_learn_are_trusted():
    names = storage.trusted_types()
    assert all(name.startswith(("kmviz.", "sklearn.", "numpy.", "scipy.sparse.")) for name in names)
    assert "kmviz.kernels.RBF" in names
    assert not any(".cli." in name or ".ui." in name for name in names)


def test_a_file_names_its_version_and_form():
    content = storage.dumps(_fitted("exact"))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        stamp = json.loads(archive.read(storage.STAMP))
    assert stamp == {"kmviz": kmviz.__version__, "schema": storage.SCHEMA}


@pytest.mark.parametrize(
    ("stamp", "words"),
    [
        ({"kmviz": "9.0.0", "schema": 99}, r"written by kmviz 9\.0\.0, in a form"),
        ([], "in a form that kmviz"),
        (None, "names no version"),
    ],
)
def test_a_file_of_another_form_is_refused_in_words(stamp, words):
    file = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(storage.dumps(_fitted("exact")))) as old,
        zipfile.ZipFile(file, "w") as new,
    ):
        for name in old.namelist():
            if name != storage.STAMP:
                new.writestr(name, old.read(name))
        if stamp is not None:
            new.writestr(storage.STAMP, json.dumps(stamp))
    with pytest.raises(storage.StorageError, match=words):
        kmviz.load(file.getvalue())


def test_what_could_not_be_loaded_again_is_not_saved(tmp_path):
    def inner(a, b):
        return a @ b.T

    X, y = make_moons(60, noise=0.2, random_state=0)
    for kernel in (lambda a, b: a @ b.T, inner):
        svc = SVC(kernel=kernel).fit(X, y)
        with pytest.raises(storage.StorageError, match="no other process could find again"):
            kmviz.save(svc, tmp_path / "svc.skops")
    assert not list(tmp_path.iterdir())
