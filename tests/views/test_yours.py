"""A fitted model of one's own, shown with rows of one's own."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import kmviz
from kmviz.datasets import DataError
from kmviz.views import yours

X, Y = load_iris(return_X_y=True)
KINDS = np.array(["setosa", "versicolor", "virginica"])[Y]
COLUMNS = ["a", "b", "c", "d"]


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "iris.csv"
    pd.DataFrame(X, columns=COLUMNS).assign(kind=KINDS).to_csv(path, index=False)
    return str(path)


def stored(tmp_path, model):
    kmviz.save(model, tmp_path / "model.skops")
    return str(tmp_path / "model.skops")


def test_several_classes_are_shown_pair_by_pair_as_the_model_decides(tmp_path, rows):
    model = make_pipeline(StandardScaler(), SVC(C=3.0, decision_function_shape="ovo"))
    found = yours.read(stored(tmp_path, model.fit(X, KINDS)), rows)
    raw = found.steps[0].inverse_transform(found.data.X_test)
    theirs = model.decision_function(raw)
    for p, pair in enumerate(combinations(range(3), 2)):
        svc, machine = found.svc(pair)
        assert svc.C == 3.0
        np.testing.assert_allclose(machine.decision_function(found.data.X_test), -theirs[:, p])
        np.testing.assert_allclose(svc.decision_function(found.data.X_test), -theirs[:, p])


def test_two_classes_keep_the_models_signs_and_labels(tmp_path, rows):
    two = KINDS != "setosa"
    model = LinearSVC().fit(X[two], KINDS[two])
    pd.read_csv(rows)[two].to_csv(rows, index=False)
    found = yours.read(stored(tmp_path, model), rows)
    assert found.data.class_names == ("versicolor", "virginica")
    _, machine = found.svc((0, 1))
    answers = machine.decision_function(found.data.X_test) > 0
    assert (answers == (model.predict(found.data.X_test) == "virginica")).all()
    assert np.mean(answers == found.data.y_test) > 0.8


def test_rows_that_do_not_fit_are_refused_in_words(tmp_path, rows):
    model = SVC().fit(X[:, :3], KINDS)
    with pytest.raises(DataError, match=r"takes 3 columns; iris\.csv has 4 beside the class"):
        yours.read(stored(tmp_path, model), rows)
    model = SVC().fit(X[:100], KINDS[:100])
    with pytest.raises(DataError, match=r"decides between setosa, versicolor; iris\.csv has"):
        yours.read(stored(tmp_path, model), rows)


def test_what_is_no_classifier_is_refused_in_words(tmp_path, rows):
    with pytest.raises(DataError, match="StandardScaler that is not a trained kernel classifier"):
        yours.read(stored(tmp_path, StandardScaler().fit(X)), rows)
