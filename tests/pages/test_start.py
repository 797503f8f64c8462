"""The Start page without a browser."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from kmviz import lessons
from kmviz.charts import wire
from kmviz.kernels import RBF, Linear, Normalized, Polynomial, Sigmoid
from kmviz.ui.pages import start
from kmviz.views import problem
from kmviz.views.controls import SHARED
from tests.pages.helpers import live_arrays, live_at, live_layers, metric, open_page, run


@pytest.fixture
def banana():
    return open_page(data="banana")


@pytest.fixture(scope="module")
def plain():
    """What a bare link chooses."""
    return dict(chosen(open_page()))


def chosen(app):
    """Every shared choice, drawn by a widget or not."""
    return {name: app.session_state[name] for name in SHARED}


def fast_lines(app):
    """Return how many support vectors the query asks, nearest first, at the slider's end."""
    sent = live_arrays(app, "asked", "payment_fast")
    lines = sent["layers"][1]
    assert wire.at(lines["x"], 0).size == 0
    count = wire.at(lines["x"], len(lines["x"]["index"]) - 1).size // 3
    assert f"Nearest first: {count} of them settle it" in str(sent["title"])
    return count


def test_a_bare_link_shows_an_easy_query_asked_in_full_and_nearest_first():
    app = open_page()
    assert not dict(app.query_params), "nothing was chosen, nothing is written"
    m = int(metric(app, "Support vectors"))
    assert fast_lines(app) < 0.1 * m
    heat = live_arrays(app, "asked", "effort_map")["layers"][0]
    assert heat["levels"].min() < 0.05 * m < 0.4 * m < heat["levels"].max() <= m + 1
    app.number_input(key="query").set_value(581)
    run(app)
    assert fast_lines(app) > 0.5 * m, "effort follows difficulty"


def test_banana_is_shown_with_its_boundary(banana):
    assert metric(banana, "Training rows") == "400"
    vectors = int(metric(banana, "Support vectors"))
    heat, _, rings, *_ = live_layers(banana, "boundary", "boundary")
    assert len(heat["values"]) == 100 * 100
    assert rings["name"] == "support vector"
    assert len(rings["x"]) == vectors


def test_every_query_costs_all_support_vectors(banana):
    vectors = int(metric(banana, "Support vectors"))
    points, _, whole = live_layers(banana, "effort", "effort")
    assert 600 <= len(points["y"]) <= 601, "a sample, with the query"
    title = live_arrays(banana, "effort", "effort")["title"]["words"][0]
    assert title == f"A sample of {len(points['y'])} queries"
    assert set(points["y"]) == {vectors}
    assert whole["y"] == [vectors]


def test_the_query_draws_a_line_to_every_support_vector_and_ends_at_f(banana):
    m = int(metric(banana, "Support vectors"))
    assert live_at(banana, "asked") == str(m)
    lines = live_arrays(banana, "asked", "payment")["layers"][1]
    last = len(lines["x"]["index"]) - 1
    assert wire.at(lines["x"], 0).size == 0
    assert wire.at(lines["x"], last).size == 3 * m, "query, vector, and a break"
    assert any(live_arrays(banana, "asked", "payment")["layers"][-1]["id"]["data"] == 0), "the star"


def test_where_no_fast_answer_stands_beside_it_the_sum_ends_at_f():
    app = open_page(data="sketch")
    total = live_arrays(app, "asked", "payment_sum")["layers"][0]["y"]["data"]
    said = next(text for text in map(str, (c.value for c in app.markdown)) if "f(x) =" in text)
    assert f"f(x) = {total[-1]:.3g}" in said


def test_of_digits_the_query_and_whom_it_asks_are_seen():
    app = open_page(data="digits")
    m = int(metric(app, "Support vectors"))
    strip = live_arrays(app, "asked", "payment_images")
    last = wire.at(strip["captions"], len(strip["shown"]["index"]) - 1)
    assert last[0] == "query"
    assert last[1].startswith(f"{m}: "), "the last one asked, with its class"
    assert len(last) == 6


def test_a_deep_link_rebuilds_the_view():
    app = open_page(data="two_moons", kernel="poly", C="3", gamma="0.5", degree="4", query="17")
    state = app.session_state
    assert (state["data"], state["kernel"], state["C"], state["gamma"]) == (
        "two_moons",
        "poly",
        3.0,
        0.5,
    )
    assert (state["degree"], state["query"]) == (4, 17)
    assert "Query 17" in " ".join(m.value for m in app.markdown)


@pytest.mark.parametrize(
    "params",
    [
        {"C": "abc"},
        {"C": "-1"},
        {"C": "nan"},
        {"gamma": "inf"},
        {"kernel": "magic"},
        {"data": "nothing"},
        {"data": "upload"},
        {"query": "1e9"},
        {"query": "2.5"},
        {"degree": "0"},
        {"n": "1"},
        {"seed": "-4"},
        {"noise": "loud"},
        {"pair": "%%%"},
    ],
)
def test_what_is_off_in_the_url_falls_back_to_the_default(params, plain):
    session = chosen(open_page(**params))
    for name in ("data", "kernel", "C", "gamma", "degree", "query", "seed", "n", "noise"):
        assert session[name] == plain[name]


@pytest.mark.parametrize("params", [{"gamma": "inf"}, {"C": "abc"}, {"query": "-1"}])
def test_what_is_off_beside_a_data_set_falls_back_to_that_sets_default(params):
    session = chosen(open_page(data="two_spirals", n=100, **params))
    plain = chosen(open_page(data="two_spirals", n=100))
    assert (session["C"], session["gamma"]) == (plain["C"], plain["gamma"])
    assert plain["gamma"] != "scale", "a spiral takes a narrow kernel"


def test_no_gamma_means_scale_where_the_link_says_anything_of_the_machine():
    session = chosen(open_page(data="two_spirals", n=100, C="3"))
    assert (session["C"], session["gamma"]) == (3.0, "scale")
    session = chosen(open_page(data="two_spirals", n=100, kernel="poly"))
    assert (session["C"], session["gamma"], session["degree"]) == (10.0, "scale", 3)


def test_a_data_set_chosen_comes_with_its_machine(banana):
    banana.select_slider(key="C").set_value(300.0)
    run(banana)
    banana.selectbox(key="data").set_value("two_spirals")
    run(banana)
    plain, session = chosen(open_page(data="two_spirals")), chosen(banana)
    assert (session["C"], session["gamma"]) == (plain["C"], plain["gamma"])
    assert banana.query_params["data"] == "two_spirals"
    assert banana.query_params["gamma"] == f"{plain['gamma']:g}"


def test_noise_below_nothing_is_nothing():
    assert str(open_page(data="two_moons", n=60, noise="-0.0").session_state["noise"]) == "0.0"


def test_an_upload_that_the_session_lost_is_said():
    app = open_page(data="upload")
    assert "Upload it again" in app.warning[0].value
    assert not open_page(data="two_moons", n=60).warning


def test_numbers_compare_as_numbers():
    assert open_page(C="10").session_state["C"] == open_page(C="10.0").session_state["C"]


def test_pair_chooses_two_of_many_classes():
    app = open_page(data="digits", pair="7-1")
    assert app.session_state["pair"] == "1-7"
    names = live_arrays(app, "effort", "effort")["layers"][0]["names"]
    assert names == ["1", "7", "wrong answer"]
    title = live_arrays(app, "boundary", "boundary")["title"]["words"][0]
    assert "PCA projection of 64 dimensions" in title


def test_moving_the_query_trains_nothing(banana, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("trained again")

    monkeypatch.setattr(SVC, "fit", refuse)
    banana.number_input(key="query").set_value(3)
    run(banana)
    assert banana.query_params["query"] == "3"
    assert "Query 3" in " ".join(m.value for m in banana.markdown)


def test_changing_c_trains_once_and_tells_the_url(banana):
    before = metric(banana, "Support vectors")
    banana.select_slider(key="C").set_value(0.1)
    run(banana)
    assert metric(banana, "Support vectors") != before
    assert banana.query_params["C"] == "0.1"


def test_features_of_uneven_scale_are_standardised_and_that_is_said():
    app = open_page(data="german")
    assert any("standardised" in c.value for c in app.caption)


def test_rows_noise_and_seed_reach_the_generator():
    app = open_page(data="two_moons", n="60", noise="0.05", seed="3")
    assert metric(app, "Training rows") == "60"
    assert any("noise of 0.05" in c.value for c in app.caption)


def test_the_code_to_take_home_runs_and_gives_the_same_machine(banana):
    lines = next(c.value for c in banana.code if "SVC(" in c.value)
    names: dict = {}
    exec(lines, names)
    assert len(names["svc"].support_) == int(metric(banana, "Support vectors"))


@pytest.mark.parametrize(
    "params",
    [
        {"data": "digits", "pair": "3-8"},
        {"data": "digits", "pair": "7-1", "n": 50},
        {"data": "checkerboard", "noise": 5, "n": 200},
        {"data": "thyroid", "kernel": "poly_normalized", "seed": 2},
    ],
)
def test_the_code_to_take_home_makes_the_machine_shown(params):
    app = open_page(**params)
    names = {}
    exec(next(block.value for block in app.code if "svc" in block.value), names)
    svc, X_test = names["svc"], names["X_test"]
    assert str(len(svc.support_)) == metric(app, "Support vectors")
    points, query = live_layers(app, "effort", "effort")[0], app.session_state["query"]
    output = points["x"][list(points["id"]).index(query)]
    assert svc.decision_function(X_test[[query]])[0] == pytest.approx(output, rel=1e-5)


def test_a_machine_that_does_not_settle_is_stopped_and_said(monkeypatch):
    monkeypatch.setattr(problem, "MOST_ITERATIONS", 50)
    with pytest.warns(ConvergenceWarning):
        app = open_page(data="haberman", n=150, kernel="poly", C=10, gamma=1)
    assert "stopped after 50 steps" in app.warning[0].value
    assert "max_iter=50" in next(block.value for block in app.code if "svc" in block.value)


def test_a_machine_that_cannot_be_trained_is_said():
    app = open_page(data="haberman", n=30, kernel="poly", gamma=10_000, degree=12)
    assert "smaller gamma" in app.error[0].value
    app.selectbox(key="kernel").set_value("rbf")
    run(app)
    assert not app.error


def test_lessons_are_announced_beside_the_heading():
    app = open_page()
    announced = app.get("popover")[0]
    assert announced.proto.popover.label == f"{len(lessons.names())} lessons"
    rows = [list(block.children.values()) for block in app.main if hasattr(block, "children")]
    assert [app.title[0], announced] in rows


def test_effort_is_said_to_follow_difficulty_only_where_it_does():
    various, alike = np.array([[3, 9], [12, 40]]), np.full((4, 4), 70)
    assert "effort follows difficulty" in start.what_to_do(various, 100)
    assert "most spots take 70 to 70 of 100 kernel evaluations" in start.what_to_do(alike, 100)


@pytest.mark.parametrize(
    ("kernel", "formula"),
    [
        (RBF(2.0), r"K(x_i, x) = e^{-2\,\|x_i - x\|^2}"),
        (Linear(), r"K(x_i, x) = x_i \cdot x"),
        (Polynomial(3, 1.0, 0.5), r"K(x_i, x) = (x_i \cdot x + 0.5)^{3}"),
        (Normalized(Polynomial(9)), r"P(x_i, x) = (x_i \cdot x + 1)^{9}"),
        (Sigmoid(1.0), r"\text{Sigmoid}(x_i, x)"),
    ],
)
def test_the_kernel_is_said_as_a_formula_with_its_numbers(kernel, formula):
    assert formula in start.kernel_formula(kernel)
