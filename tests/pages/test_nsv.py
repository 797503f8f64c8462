"""The Nearest support vectors page without a browser."""

import numpy as np
import pytest
from sklearn.svm import SVC, LinearSVC

import kmviz
from kmviz.charts import wire
from kmviz.methods.nsv import NSVClassifier
from kmviz.methods.nsv.calibration import Calibrator
from kmviz.methods.nsv.engine import NSVEngine
from kmviz.methods.nsv.thresholds import Envelope
from kmviz.methods.study import Study
from kmviz.ui import maps
from kmviz.ui.shell import parts
from kmviz.views import nsv, problem as problems
from kmviz.views.nsv import WINDOWS
from tests.pages.helpers import figure, live_arrays, live_at, number, open_page, run

PAGE = "pages/1_Nearest_Support_Vectors.py"


def at(page):
    """Where the slider stands among its windows."""
    w = int(live_at(page, "w"))
    return sorted({*WINDOWS, w}).index(w)


@pytest.fixture
def page():
    return open_page(PAGE, data="banana")


def test_every_chart_is_there(page):
    points = live_arrays(page, "w", "effort")["layers"][1]
    ten = list(WINDOWS).index(10)
    assert len(wire.at(points["x"], ten)) == 2000
    differ = np.sum(wire.at(points["group"], ten) == 0)
    assert number(page, "w", "Disagreements") == f"{differ:,} of 2,000"
    assert live_arrays(page, "w", "trajectory")["layers"]
    assert live_arrays(page, "neighbors", "neighbors")["layers"]
    assert figure(page, "tradeoff")["data"]


def test_the_first_figures_are_the_gain_and_what_it_costs(page):
    parts = {c.proto.id.rsplit("live_", 1)[-1]: c.proto for c in page.get("bidi_component")}
    names = [name for name, *_ in wire.unpack(parts["w_bar"].bytes[16:])["numbers"]]
    assert names[:2] == ["Fewer kernel evaluations", "Disagreements"]
    m, mean = (float(number(page, "w", name)) for name in ("Vectors m", "Mean k"))
    fewer = number(page, "w", "Fewer kernel evaluations")
    assert fewer.endswith("x")
    assert float(fewer[:-1]) == pytest.approx(m / mean, rel=0.02)


@pytest.fixture
def refusing(monkeypatch):
    """Let everything that trains, calibrates or measures an envelope raise."""

    called = []

    def refuse(*_, **__):
        called.append(True)
        raise AssertionError("fitted")

    for owner, name in (
        (SVC, "fit"), (LinearSVC, "fit"), (NSVClassifier, "fit"), (NSVClassifier, "refitted"),
        (Calibrator, "__call__"), (Envelope, "add"), (NSVEngine, "__init__"),
    ):  # fmt: skip
        monkeypatch.setattr(owner, name, refuse)
    return called


def test_moving_the_window_or_the_filter_fits_nothing(page, refusing):
    before = float(number(page, "w", "Mean k"))
    page.session_state["w"] = 150
    run(page)
    assert float(number(page, "w", "Mean k")) >= before
    page.toggle(key="filter").set_value(False)
    run(page)
    assert number(page, "w", "By the filter") == "0%"
    assert page.query_params["w"] in ("150", ["150"])


def test_what_does_fit_is_refused_there(page, refusing):
    page.number_input(key="q").set_value(33)
    page.run()
    assert page.exception
    assert refusing  # so that what it refuses is what a page would call


def test_other_orders_and_starts_train_nothing(page, monkeypatch):
    monkeypatch.setattr(SVC, "fit", lambda *_, **__: pytest.fail("trained"))
    monkeypatch.setattr(Calibrator, "__call__", lambda *_, **__: pytest.fail("calibrated"))
    page.selectbox(key="start").set_value("approximate")
    page.number_input(key="q").set_value(7)
    run(page)
    page.selectbox(key="order").set_value("tug_of_war")
    run(page)


@pytest.mark.parametrize(
    "link",
    [
        {"data": "twonorm", "n": 300, "q": 5, "start": "approximate", "filter": "false", "w": 200},
        {"data": "banana", "order": "tug_of_war", "w": 3},
        {"data": "digits", "pair": "3-8", "kernel": "poly_normalized", "q": 4},
        {"data": "banana", "calibration": "train", "margin": 0.5, "n": 200},
        {"data": "banana", "promise": 0.1, "confidence": 0.9, "w": 3, "n": 400},
    ],
    ids=lambda link: "-".join(map(str, link)),
)
def test_the_page_shows_what_its_code_and_its_file_do(link, monkeypatch):
    made: dict = {}
    monkeypatch.setattr(parts, "_download", lambda label, make, *_: made.update({label: make()}))
    page = open_page(PAGE, **link)
    names: dict = {}
    exec(made["Python"], names)
    clf, queries = names["clf"], names["X_test"]
    steps, output = clf.steps(queries), clf.decision_function(queries)
    exact = clf.exact_function(queries)
    assert number(page, "w", "Mean k") == f"{steps.mean():,.1f}"
    assert number(page, "w", "Median k") == f"{np.median(steps):,.0f}"
    assert int(number(page, "w", "Disagreements").split()[0]) == np.sum((output > 0) != (exact > 0))
    stored = kmviz.load(made["Estimator (.skops)"])
    np.testing.assert_array_equal(stored.steps(queries), steps)
    # On embedded rows libsvm computes the normalised kernel itself, and stops a hair elsewhere.
    near = 1e-3 if "kernel" in link else 0.0
    np.testing.assert_allclose(stored.decision_function(queries), output, rtol=near)
    drawn, here = live_arrays(page, "w", "effort")["layers"][1], at(page)
    rows = wire.at(drawn["id"], here)
    np.testing.assert_array_equal(wire.at(drawn["x"], here), steps[rows])
    np.testing.assert_allclose(wire.at(drawn["y"], here), output[rows].astype("f4"), rtol=near)


def test_queries_stand_outside_the_thresholds_they_stopped_at(page):
    band, points, _ = live_arrays(page, "w", "effort")["layers"]
    k, low, high = (wire.at(band[name], at(page)) for name in ("x", "low", "high"))
    steps, g = (wire.at(points[name], at(page)) for name in "xy")
    last = int(number(page, "w", "Vectors m").replace(",", "")) + 1
    walked = (steps > 1) & (steps < last)
    assert walked.any()
    place = np.searchsorted(k, steps[walked])
    exactly = k[place] == steps[walked]
    outside = (g[walked] >= high[place]) | (g[walked] <= low[place])
    assert outside[exactly].all()


def test_a_start_from_the_approximation():
    page = open_page(PAGE, data="banana", start="approximate", filter="false", q=3)
    assert float(number(page, "w", "Mean k")) == 1.0
    assert "approximation" in wire.at(live_arrays(page, "w", "trajectory")["title"], 0)[0]


def test_digits_show_images():
    page = open_page(PAGE, data="digits", pair="3-8", kernel="poly_normalized")
    strip = live_arrays(page, "neighbors", "neighbors")
    assert strip["kind"] == "images"
    assert strip["shape"] == [8, 8]
    assert wire.at(strip["captions"], 0)[0] == "the query"
    words = wire.at(strip["text"], 0)
    assert "K ≈ " in words[1]
    assert "K = " in words[1]


def test_nonsense_in_the_url_falls_back():
    page = open_page(PAGE, data="banana", w="many", q=-3, order="backwards", filter="maybe")
    assert live_at(page, "w") == "10"
    assert page.selectbox(key="order").value == "nearest"


def test_a_sample_behind_the_tradeoff_is_said():
    page = open_page(PAGE, data="banana", n=100)
    title = figure(page, "tradeoff")["layout"]["title"]["text"]
    assert "sample of 500" in title
    assert "2,000" in title


def test_a_machine_whose_walks_cannot_be_kept_shows_fewer_queries_and_a_coarser_map(monkeypatch):
    monkeypatch.setattr(nsv, "MOST_BYTES", 1)
    monkeypatch.setattr(maps, "MOST_BYTES", 1)
    page = open_page(PAGE, data="banana", n=120)
    assert any("a sample of 400 queries" in info.value for info in page.info)
    heat = live_arrays(page, "w", "effort_map")["layers"][0]
    assert len(wire.at(heat["x"], 0)) == 20
    assert len(wire.at(heat["values"], 0)) == 400
    monkeypatch.setattr(Study, "frames", None)  # another query reads nothing again
    page.session_state["query"] = 7
    star = live_arrays(run(page), "w", "effort_map")["layers"][3]
    assert wire.at(star["x"], 0) == pytest.approx(kmviz.datasets.load("banana").X_test[7, 0])


def test_queries_that_are_all_alike_have_words_too():
    page = open_page(PAGE, data="twonorm", n=21, seed=7, start="approximate")
    assert not [info.value for info in page.info if "nan" in info.value]


def test_the_live_slider_draws_what_the_study_reads():
    page = open_page(PAGE, data="banana", C=0.3, gamma=2, filter="false", w=4)
    points = live_arrays(page, "w", "effort")["layers"][1]
    windows = [0, 4, 20]
    for window in windows:
        again = open_page(PAGE, data="banana", C=0.3, gamma=2, filter="false", w=window)
        mean = float(np.mean(wire.at(points["x"], window)))
        assert f"{mean:,.1f}" == number(again, "w", "Mean k")


def test_a_promise_is_said_and_proved_for_the_choice_at_hand():
    page = open_page(PAGE, data="banana", n=400, promise=0.05, filter="false")
    (said,) = (box.value for box in page.success)
    assert "at most 5.000% of the answers differ, with 95% confidence" in said
    assert page.select_slider(key="margin").disabled
    assert not page.select_slider(key="confidence").disabled


def test_a_promise_that_the_rows_cannot_bear_is_taken_back_and_said():
    page = open_page(PAGE, data="banana", n=100, promise=0.01)
    assert page.select_slider(key="promise").value == "none"
    assert not page.success
    assert any("takes 299 rows" in caption.value for caption in page.caption)


def test_a_machine_that_took_long_is_not_trained_ten_times_more(monkeypatch):
    monkeypatch.setattr(problems, "LONG", 0.0)
    page = open_page(PAGE, data="banana", n="120")
    assert any("took long to train" in info.value for info in page.info)
    assert any("calibration='left_out'" in code.value for code in page.code)


def test_points_that_the_filter_decided_are_not_said_to_have_left_the_band():
    app = open_page(PAGE, data="digits")
    texts = {}
    for is_on in (True, False):
        app.toggle(key="filter").set_value(is_on)
        texts[is_on] = " ".join(info.value for info in run(app).info)
    assert "the filter decided them" in texts[True]
    assert "the filter decided them" not in texts[False]
