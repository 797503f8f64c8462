"""The Local models page."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC

from kmviz import FaLKClassifier, datasets
from kmviz.charts import wire
from kmviz.machines import KernelMachine
from kmviz.methods.falk.theory import LocalityGap
from kmviz.ui import falk, falk_views
from tests.pages.helpers import live_arrays, live_at, live_layers, metric, open_page, run

PAGE = "pages/4_Local_Models.py"
BANANA = {"data": "banana", "C": 10, "gamma": 0.5}


def opened():
    return open_page(PAGE, data="banana", k=40, kp=10, select="center")


@pytest.fixture(scope="module")
def shown():
    """A page to look at, for tests that move nothing."""
    return opened()


@pytest.fixture
def page():
    """A page of one's own, for tests that move something."""
    return opened()


def test_a_link_opens_the_view(shown):
    assert live_at(shown, "k") == "40"
    assert shown.number_input(key="k").value == 40
    assert shown.number_input(key="kp").value == 10
    assert shown.selectbox(key="select").value == "center"
    assert shown.query_params["k"] == "40"
    assert float(metric(shown, "Kernel values per query")) < 40
    models = int(metric(shown, "Local models").replace(",", ""))
    owner, *_ = live_layers(shown, "k", "local_map")
    assert len(owner["radius"]) == models
    assert owner["owner"].max() < models
    assert float(metric(shown, "Accuracy").rstrip("%")) > 80


def test_a_query_and_who_answers_only_read_again(page, monkeypatch):
    monkeypatch.setattr(FaLKClassifier, "fit", None)
    before = layer(page, "query, nearest")["x"]
    page.session_state["query"] = 7
    run(page)
    assert not np.array_equal(before, layer(page, "query, nearest")["x"])
    page.selectbox(key="select").set_value("point")
    run(page)
    assert "nearest training point is row" in " ".join(m.value for m in page.markdown)
    assert page.query_params.get("select") in (None, "point")


def layer(app, start):
    """The layer of the map whose name starts so, where the slider stands."""
    return next(
        one for one in live_layers(app, "k", "local_map") if str(one["name"]).startswith(start)
    )


def test_the_sweep_has_every_k(shown):
    sizes = live_layers(shown, "k", "local_sweep")[0]["x"]
    assert sizes.tolist() == [10, 15, 20, 30, 40, 60, 80]  # from k' to 8 k'
    assert (live_layers(shown, "k", "local_sweep_seconds")[0]["y"] > 0).all()


def shown_models(k, n_cover, **kernel):
    """The classifier that the page's controls describe, fitted anew on the same rows."""
    data = datasets.load("banana")
    svc = SVC(C=10.0, gamma=0.5).fit(data.X_train, data.y_train)
    kernel = kernel or {"kernel": KernelMachine.from_estimator(svc).kernel}
    clf = FaLKClassifier(k, n_cover, **kernel, C=10.0, random_state=0)
    return data, clf.fit(data.X_train, data.y_train)


@pytest.mark.parametrize("width", ["machine", "local"])
def test_marked_noise_is_what_the_models_on_show_contradict(width):
    app = open_page(PAGE, **BANANA, k=60, kp=10, removed="true", width=width)
    data, clf = shown_models(60, 10, **({"gamma": "local"} if width == "local" else {}))
    marked = layer(app, "noise it would remove")
    wrong = clf.model_outputs(clf.center_of_, data.X_train) > 0
    wanted = data.X_train[wrong != (data.y_train > 0)]
    drawn = np.column_stack([marked["x"], marked["y"]])
    np.testing.assert_allclose(drawn, wanted, rtol=1e-5)


def test_the_error_at_home_is_that_of_the_answering_model():
    app = open_page(PAGE, **BANANA, k=60, kp=10, query=3)
    data, clf = shown_models(60, 10)
    model = clf.trace(data.X_test[3]).model
    members = clf.neighborhood(model)
    machine = clf.local_machine(data.X_test[3])
    wrong = (machine.decision_function(data.X_train[members]) > 0) != (data.y_train[members] > 0)
    assert metric(app, "Own points wrong") == f"{wrong.mean():.1%}"


def test_take_home_code_makes_what_the_page_shows(page):
    space: dict = {}
    exec(page.code[0].value, space)
    clf = space["clf"]
    assert (clf.n_neighbors, clf.n_cover, clf.select) == (40, 10, "center")
    assert f"{clf.score(space['X_test'], space['y_test']):.1%}" == metric(page, "Accuracy")
    assert f"{len(clf.models_):,}" == metric(page, "Local models")


@pytest.mark.parametrize(
    "params", [{"k": 99999}, {"k": "x", "kp": -4, "select": "no", "cover": 3}, {"k": 5, "kp": 50}]
)
def test_what_is_off_falls_back(params):
    page = open_page(PAGE, **params)
    k, n_cover = page.number_input(key="k").value, page.number_input(key="kp").value
    assert n_cover is None or 1 <= n_cover <= k
    assert page.selectbox(key="select").value == "point"


def test_more_dimensions_are_projected():
    page = open_page(PAGE, data="sonar", kernel="poly", cover="tree", k=30, kp=10)
    assert "projection" in wire.at(live_arrays(page, "k", "local_map")["title"], 0)[0]
    assert np.isnan(layer(page, "centre to its k' points")["x"]).sum() == 10
    assert page.selectbox(key="cover").value == "tree"


def test_local_widths(page):
    page.selectbox(key="width").set_value("local")
    run(page)
    assert "gamma='local'" in page.code[0].value
    assert float(metric(page, "Accuracy").rstrip("%")) > 80


def test_half_of_k_stays_half_where_nothing_else_was_chosen():
    page = open_page(PAGE, data="banana", k=40)
    sizes = live_layers(page, "k", "local_sweep")[0]["x"]
    assert sizes.tolist() == [5, 10, 15, 20, 30, 40, 60, 80, 120, 160, 320]
    hover = live_arrays(page, "k", "local_sweep")["layers"][2]["hover"]
    assert (np.diff(wire.at(hover["models"], 0).astype(int)) < 0).all()
    assert "n_cover=20" in page.code[0].value
    page.number_input(key="k").set_value(33)
    run(page)
    assert live_at(page, "k") == "33"
    assert "n_cover=16" in page.code[0].value
    page.number_input(key="kp").set_value(9)
    run(page)
    assert "n_cover=9" in page.code[0].value
    assert page.query_params["kp"] == "9"


def test_the_slider_draws_what_a_fit_of_each_size_answers():
    page = open_page(PAGE, **BANANA, k=40, query=3)
    sent = live_arrays(page, "k", "local_map")["layers"]
    owner, points = sent[:2]
    named = {one.get("name"): one for one in sent}
    line, ring = named["local models composed"], named["k points it is trained on"]
    heat, _, own, *_ = live_arrays(page, "k", "effort_map")["layers"]
    share = live_arrays(page, "k", "local_sweep")["layers"][0]
    cells = np.meshgrid(wire.at(owner["x"], 0), wire.at(owner["y"], 0))
    rows = np.column_stack([axis.ravel() for axis in cells])
    for position, k in ((1, 10), (5, 40)):
        data, clf = shown_models(k, k // 2)
        asked = wire.at(owner["owner"], position)
        assert np.mean(asked == clf.apply(rows)) > 0.99  # the places are sent in single precision
        steps = heat["levels"][wire.at(heat["values"], position)]
        said = np.clip(clf.models_.sizes()[asked], 1, None)
        np.testing.assert_allclose(steps, said, rtol=0.03)
        np.testing.assert_array_equal(wire.at(own["x"], position), wire.at(line["x"], position))
        assert wire.at(share["y"], 0)[position] == pytest.approx(
            100 * clf.score(data.X_test[:2000], data.y_test[:2000]), abs=1e-4
        )
        home = clf.local_model(clf.trace(data.X_test[3]).model)
        circle = np.column_stack([wire.at(ring[axis], position) for axis in "xy"])
        away = np.linalg.norm(circle - data.X_train[home.center], axis=1)
        np.testing.assert_allclose(away, home.outer, rtol=1e-4)
    assert len(wire.at(points["x"], 0)) == len(data.X_train)
    assert len(wire.at(line["x"], 0)) > 10


def test_moving_along_the_sweep_trains_only_what_is_shown(page, monkeypatch):
    page.session_state["k"] = 60
    run(page)
    monkeypatch.setattr(FaLKClassifier, "fit", None)
    page.session_state["k"] = 40
    run(page)
    assert live_at(page, "k") == "40"


@pytest.mark.parametrize("data", ["two_spirals", "digits", "heart"])
def test_all_positions_are_light(data):
    page = open_page(PAGE, data=data, k=20)
    assert sum(len(part.proto.bytes) for part in page.get("bidi_component")) < 1_000_000


def test_sizes_that_another_session_trains_meanwhile_do_not_change_a_run(monkeypatch):
    asked: set = set()

    def later(key, make, text):
        if key in asked:
            return make()
        asked.add(key)
        return None

    monkeypatch.setattr(falk._sweeps, "later", later)
    assert open_page(PAGE, data="two_moons", n=60, k=10)
    assert asked


def test_what_a_model_around_each_query_would_change_is_said():
    same = falk_views.locality(LocalityGap(0.0, 0.0, 0.0, 0.0, 200))
    assert "asked 200 test rows): no answer differs" in same
    other = falk_views.locality(LocalityGap(0.01, 0.005, 0.02, 0.03, 200))
    assert "3.0% of the answers differ, which changes the error by +1.0% ± 0.5%" in other
    assert "E[λ] of eq. 15 at least +2.0%" in other


def test_the_sweep_is_said_in_points_and_no_share_is_rounded_to_all(shown):
    assert falk_views.share(0.9995) == "99.95%"
    table = pd.DataFrame({"n_neighbors": [15], "accuracy": [0.9995], "steps": [1.04],
                          "seconds": [0.005]})  # fmt: skip
    problem = SimpleNamespace(test_error=0.06, n_vectors=1166, fit_seconds=0.365)
    page = SimpleNamespace(shown=SimpleNamespace(rows=np.arange(2000)))
    said = falk_views.look_at_sweep(problem, page, table)
    assert "k = 15 is best, 99.95%: 6.0 points above the global SVM" in said
    assert "1.0 kernel values" in said
