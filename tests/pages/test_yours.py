"""Every page shows the model that the app was started with."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kmviz
from kmviz.ui.runtime import problem
from kmviz.ui.shell.menu import PAGES
from kmviz.views import yours
from tests.pages.helpers import open_page


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A stored model of three classes, as the app is started with it."""
    X, y = load_iris(return_X_y=True)
    kinds = np.array(["setosa", "versicolor", "virginica"])[y]
    fitted = make_pipeline(StandardScaler(), SVC(gamma=0.5)).fit(X, kinds)
    kmviz.save(fitted, tmp_path / "flowers.skops")
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(kind=kinds)
    frame.to_csv(tmp_path / "flowers.csv", index=False)
    monkeypatch.setenv(yours.MODEL, str(tmp_path / "flowers.skops"))
    monkeypatch.setenv(yours.ROWS, str(tmp_path / "flowers.csv"))
    problem.your_model.cache_clear()
    yield fitted
    problem.your_model.cache_clear()


@pytest.mark.parametrize("page", [one.file for one in PAGES if one.opening])
def test_a_page_shows_the_model_it_was_started_with(page, model):
    app = open_page(page, data="yours", pair="versicolor-virginica", methods="svtree")
    assert app.selectbox(key="data").value == "yours"
    assert app.selectbox(key="pair").value == "versicolor-virginica"
    assert not app.error
    assert "your model: flowers.skops" in app.selectbox(key="data").options
    assert "The model in flowers.skops" in "".join(text.value for text in app.caption)


def test_without_a_model_there_is_no_such_data_set():
    app = open_page(data="yours")
    assert app.selectbox(key="data").value == "banana"
