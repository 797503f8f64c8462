"""The Reduced set page: charts, numbers that agree, a slider that searches nothing."""

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

import kmviz
from kmviz import ReducedSetClassifier, VirtualSVClassifier, datasets
from kmviz.charts import wire
from kmviz.ui import reduced
from kmviz.ui.shell import parts
from tests.pages.helpers import live_arrays, live_at, live_layers, number, open_page, run

PAGE = "pages/3_Reduced_Set.py"


@pytest.fixture(autouse=True)
def few_vectors(monkeypatch):
    """A short path: how far it goes does not matter here."""
    monkeypatch.setattr(reduced, "MOST_VECTORS", 16)
    monkeypatch.setattr(reduced, "TIMED_ROWS", 20)


def test_opens_with_its_charts():
    app = open_page(PAGE, data="banana")
    assert number(app, "vectors", "Vectors") == "10"
    for key in ("reduced_vectors", "boundary", "reduced_error", "reduced_rho"):
        assert live_arrays(app, "vectors", key)["layers"]
    assert len(live_layers(app, "vectors", "reduced_rho")[0]["y"]) == 16
    assert app.dataframe[0].value["vectors"].tolist()[-1] == 10


def test_the_slider_reads_and_does_not_search(monkeypatch):
    app = open_page(PAGE, data="banana", vectors=4)
    before = number(app, "vectors", "ρ")
    monkeypatch.setattr(ReducedSetClassifier, "fit", None)
    monkeypatch.setattr(VirtualSVClassifier, "fit", None)
    app.session_state["vectors"] = 16
    run(app)
    assert number(app, "vectors", "Vectors") == "16"
    assert float(number(app, "vectors", "ρ")) < float(before)
    rule = next(
        one for one in live_layers(app, "vectors", "reduced_error") if one["kind"] == "rule"
    )
    assert rule["x"] == [16]
    assert app.query_params["vectors"] == "16"


def test_every_size_is_drawn_as_the_classifier_of_that_size_answers():
    app = open_page(PAGE, data="two_moons", n=120, vectors=5)
    assert live_at(app, "vectors") == "5"
    heat, line, marks, _ = live_arrays(app, "vectors", "boundary")["layers"]
    data = datasets.load("two_moons", n=120)
    grid = np.column_stack(
        [a.ravel() for a in np.meshgrid(wire.at(heat["x"], 0), wire.at(heat["y"], 0))]
    )
    for n in (2, 5):
        code = next(block.value for block in app.code if "ReducedSetClassifier" in block.value)
        space: dict = {}
        exec(code.replace("n_vectors=5", f"n_vectors={n}"), space)
        clf, position = space["clf"], n - 1
        f = clf.decision_function(grid)
        shown = heat["levels"][wire.at(heat["values"], position)]
        inside = np.abs(f) < heat["range"][1]
        step = (heat["range"][1] - heat["range"][0]) / 254
        np.testing.assert_allclose(shown[inside], f[inside], atol=0.6 * step)
        places = np.column_stack([wire.at(marks[axis], position) for axis in "xy"])
        order = np.argsort(-np.abs(clf.machine_.beta), kind="stable")
        np.testing.assert_allclose(places, clf.machine_.vectors[order], atol=1e-5)
        border = np.column_stack([wire.at(line[axis], position) for axis in "xy"])
        on = clf.decision_function(border[np.isfinite(border[:, 0])].astype(data.X_train.dtype))
        assert np.abs(on).max() < 0.1 * np.abs(f).max()


def test_the_error_of_each_size_is_drawn_and_said(monkeypatch):
    app = open_page(PAGE, data="digits", pair="3-8", vectors=8)
    error = live_arrays(app, "vectors", "reduced_error")["layers"][1]
    at_once = [float(wire.at(error["y"], 0)[n - 1]) for n in (3, 8)]
    for n, drawn in zip((3, 8), at_once, strict=True):
        app.session_state["vectors"] = n
        run(app)
        assert live_at(app, "vectors") == str(n)
        assert number(app, "vectors", "Test error") == f"{drawn:.2f}%"
    shown = live_arrays(app, "vectors", "reduced_vectors")["shown"]
    assert [len(wire.at(shown, position)) for position in range(16)] == list(range(1, 17))


@pytest.mark.parametrize("data", ["checkerboard", "digits", "heart"])
def test_all_positions_are_light(data):
    app = open_page(PAGE, data=data, vectors=4)
    assert sum(len(part.proto.bytes) for part in app.get("bidi_component")) < 700_000


def test_the_slider_computes_no_projection_again(monkeypatch):
    app = open_page(PAGE, data="heart", vectors=4)
    monkeypatch.setattr(import_module("kmviz.ui.plane"), "principal_axes", None)
    app.session_state["vectors"] = 6
    run(app)
    assert number(app, "vectors", "Vectors") == "6"


def test_images_are_shifted_then_reduced():
    app = open_page(PAGE, data="digits", pair="3-8", vectors=8)
    names = app.dataframe[0].value["machine"].tolist()
    assert [name[:3] for name in names] == ["ORI", "VSV", "RS:", "RS:"]
    assert len(live_layers(app, "virtual_strip", "virtual_strip")[0]["captions"]) == 5
    assert len(live_layers(app, "vectors", "reduced_vectors")[0]["shown"]) == 8
    assert live_arrays(app, "vectors", "boundary")["layers"][1]["names"][0] == "sign changed"
    app.slider(key="shift").set_value(0)
    run(app)
    assert len(app.dataframe[0].value) == 3
    app.selectbox(key="data").set_value("two_moons")
    run(app)
    assert "shift" not in [slider.key for slider in app.slider], "there is nothing to be shifted"
    assert app.query_params["shift"] == "0"


def test_other_kernels_and_other_dimensions():
    app = open_page(PAGE, data="heart", kernel="linear", method="fixed_point")
    assert number(app, "vectors", "Vectors") == "1"  # a linear machine is one vector
    assert number(app, "vectors", "ρ") == "0.000"
    assert app.session_state["method"] == "joint"
    small = {"data": "two_moons", "n": 150, "kernel": "poly_normalized"}
    app = open_page(PAGE, **small, method="selection", vectors=3)
    assert number(app, "vectors", "Vectors") == "3"


def test_a_malformed_address_opens_the_defaults():
    app = open_page(PAGE, data="banana", vectors="many", method="magic", shift="-1")
    assert number(app, "vectors", "Vectors") == "10"
    assert app.session_state["method"] == "joint"


@pytest.mark.parametrize(
    "params",
    [
        {"data": "two_moons", "n": 120, "vectors": 5},
        {"data": "two_moons", "n": 120, "vectors": 7, "method": "selection"},
        {"data": "digits", "vectors": 6, "shift": 1},
    ],
)
def test_take_home_code_makes_what_the_page_shows(params):
    app = open_page(PAGE, **params)
    code = next(block.value for block in app.code if "ReducedSetClassifier" in block.value)
    space: dict = {}
    exec(code, space)
    clf = space["clf"]
    assert clf.machine_.n_vectors == params["vectors"]
    assert f"{clf.rho_:.3f}" == number(app, "vectors", "ρ")
    error = np.mean(clf.predict(space["X_test"]) != space["y_test"])
    assert f"{100 * error:.2f}%" == number(app, "vectors", "Test error")


def test_a_shown_size_is_what_a_fit_of_that_size_gives():
    app = open_page(PAGE, data="two_moons", n=200, C=5, gamma=1.0, vectors=9)
    data = datasets.load("two_moons", n=200)
    svc = SVC(C=5.0, gamma=1.0).fit(data.X_train, np.where(data.y_train > 0, 1, -1))
    clf = ReducedSetClassifier(FrozenEstimator(svc), n_vectors=9, method="joint", every_size=True)
    clf.fit(data.X_train)
    heat = live_arrays(app, "vectors", "boundary")["layers"][0]
    x, y = wire.at(heat["x"], 0), wire.at(heat["y"], 0)
    grid = np.column_stack([a.ravel() for a in np.meshgrid(x, y)])
    shown = heat["levels"][wire.at(heat["values"], 8)]
    low, high = heat["range"]
    f = np.clip(clf.decision_function(grid), low, high)
    np.testing.assert_allclose(f, shown, atol=0.6 * (high - low) / 254)


@pytest.mark.parametrize("kernel", ["rbf", "poly_normalized"])
@pytest.mark.parametrize("shift", [0, 1])
def test_the_estimator_to_take_home_is_the_one_shown(kernel, shift, monkeypatch, tmp_path):
    made = {}
    monkeypatch.setattr(parts, "_download", lambda label, make, *_: made.setdefault(label, make))
    app = open_page(PAGE, data="digits", kernel=kernel, shift=shift, vectors=6)
    monkeypatch.setattr(ReducedSetClassifier, "fit", None)  # nothing is searched again
    (tmp_path / "reduced.skops").write_bytes(made["Estimator (.skops)"]())
    clf = kmviz.load(tmp_path / "reduced.skops")
    assert f"{clf.rho_:.3f}" == number(app, "vectors", "ρ")
    data = datasets.load("digits").scaled()
    rows, digit = (a[np.isin(data.y_test, (3, 8))] for a in (data.X_test, data.y_test))
    error = np.mean(clf.predict(rows) != np.where(digit == 8, 1, -1))
    assert f"{100 * error:.2f}%" == number(app, "vectors", "Test error")
    assert (clf.steps(rows) == 6).all()
    assert clf.trace(rows[3]).output == pytest.approx(clf.decision_function(rows[3:4])[0])
    assert clf.trace(rows[3]).exact == pytest.approx(_exact(app, 3), rel=1e-4)


def _exact(app, row):
    """The exact output of a test row, as drawn."""
    points = live_layers(app, "vectors", "boundary")[1]
    return float(points["x"][list(points["id"]).index(row)])


def test_fine_tuning_is_the_estimators_and_says_where_it_was_kept():
    app = open_page(PAGE, data="two_moons", n=120, C=100, gamma=5, vectors=4, tune="margin")
    assert "tune='margin'" in next(block.value for block in app.code if "Reduced" in block.value)
    (said,) = [info.value for info in app.info if "Fine-tuning was kept" in info.value]
    assert "with 4 it was" in said
    assert app.query_params["tune"] == "margin"


@pytest.mark.parametrize(
    ("errors", "words"),
    [
        ([9.0, 3.0], "2 vectors are enough to err no more often: they err on 3.0%"),
        ([9.0, 4.2], "2 vectors are enough to come within a quarter of a point: they err on 4.2%"),
        ([4.0, 3.0], "1 vector is enough to err no more often: it errs on 4.0%"),
        ([9.0, 8.0], "has not yet reached the machine's own"),
    ],
)
def test_how_few_vectors_are_enough_is_said_as_it_is(errors, words):
    curves = pd.DataFrame({"error": errors, "rho": [0.5, 0.2]}, index=[1, 2])
    page = SimpleNamespace(curves=curves, before=pd.DataFrame({"error %": [4.0]}))
    assert words in reduced.look_at_error(page)
