"""The Local models page."""

import numpy as np
import pytest

from kmviz.methods.falk import FaLKClassifier
from tests.pages.helpers import array, figure, metric, open_page, run, trace

PAGE = "pages/4_Local_Models.py"


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
    assert float(metric(shown, "Kernel values a query")) < 40
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
    models = array(trace(shown, "local_sweep", "local models")["y"])
    assert (np.diff(models) < 0).all()


def test_noise_is_marked(page):
    page.toggle(key="removed").set_value(True)
    run(page)
    removed = array(trace(page, "local_map", "noise it would remove")["x"])
    assert 0 < len(removed) < 200


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
