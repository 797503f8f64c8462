"""The Local models page."""

import numpy as np
import pytest
from sklearn.svm import SVC

from kmviz import FaLKClassifier, datasets
from kmviz.machines import KernelMachine
from tests.pages.helpers import array, figure, metric, open_page, run, trace

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
    assert shown.slider(key="k").value == 40
    assert shown.slider(key="kp").value == 10
    assert shown.selectbox(key="select").value == "center"
    assert shown.query_params["k"] == "40"
    assert len(array(trace(shown, "local_map", "its neighbourhood")["x"])) == 40
    assert float(metric(shown, "Kernel values per query")) < 40
    models = int(metric(shown, "Local models").replace(",", ""))
    circles = array(trace(shown, "local_map", "k' circles")["x"])
    assert np.isnan(circles).sum() == min(models, 50)
    assert float(metric(shown, "Accuracy").rstrip("%")) > 80


def test_a_query_and_who_answers_only_read_again(page, monkeypatch):
    monkeypatch.setattr(FaLKClassifier, "fit", None)
    before = array(trace(page, "local_map", "query, nearest")["x"])
    page.session_state["query"] = 7
    run(page)
    after = array(trace(page, "local_map", "query, nearest")["x"])
    assert not np.array_equal(before, after)
    page.selectbox(key="select").set_value("point")
    run(page)
    assert "nearest training point is row" in " ".join(m.value for m in page.markdown)
    assert page.query_params.get("select") in (None, "point")


def test_charts_are_light(shown):
    size = sum(len(chart.proto.spec) for chart in shown.get("plotly_chart"))
    assert size < 350_000


def test_the_sweep_has_every_k(shown):
    sizes = array(trace(shown, "local_sweep", "accuracy")["x"])
    assert sizes.tolist() == [5, 10, 20, 40, 80, 160, 320]
    models = array(trace(shown, "local_sweep", "accuracy")["customdata"]).astype(int)
    assert (array(trace(shown, "local_sweep", "training time")["y"]) > 0).all()
    assert (np.diff(models) < 0).all()


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
    marked = trace(app, "local_map", "noise it would remove")
    wrong = clf.asked(clf.center_of_, data.X_train) > 0
    wanted = data.X_train[wrong != (data.y_train > 0)]
    drawn = np.column_stack([array(marked["x"]), array(marked["y"])])
    np.testing.assert_allclose(drawn, wanted, rtol=1e-5)


def test_the_error_at_home_is_that_of_the_answering_model():
    app = open_page(PAGE, **BANANA, k=60, kp=10, query=3)
    data, clf = shown_models(60, 10)
    model = clf.trace(data.X_test[3]).model
    members = clf.neighborhood(model)
    machine = clf.local_machine(data.X_test[3])
    wrong = (machine.decision_function(data.X_train[members]) > 0) != (data.y_train[members] > 0)
    assert metric(app, "Wrong at home") == f"{wrong.mean():.1%}"


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
    assert 1 <= page.slider(key="kp").value <= page.slider(key="k").value
    assert page.selectbox(key="select").value == "point"


def test_more_dimensions_are_projected():
    page = open_page(PAGE, data="sonar", kernel="poly", cover="tree", k=30, kp=10)
    assert "projection" in figure(page, "local_map")["layout"]["title"]["text"]
    links = array(trace(page, "local_map", "centre to its k' points")["x"])
    assert np.isnan(links).sum() == 10
    assert page.selectbox(key="cover").value == "tree"


def test_local_widths(page):
    page.selectbox(key="width").set_value("local")
    run(page)
    assert "gamma='local'" in page.code[0].value
    assert float(metric(page, "Accuracy").rstrip("%")) > 80
