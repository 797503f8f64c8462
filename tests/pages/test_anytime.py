"""The Anytime bounds page without a browser."""

import re

import numpy as np
import pytest

from kmviz.charts import wire
from kmviz.methods.anytime import AnytimeClassifier
from kmviz.methods.anytime.study import AnytimeStudy
from kmviz.views.anytime import positions
from tests.pages.helpers import array, figure, live_arrays, live_at, metric, number, open_page, run

PAGE = "pages/2_Anytime_Bounds.py"


@pytest.fixture
def page():
    return open_page(PAGE, data="banana")


def said(app, step):
    """What the live slider says at a step, one of the first."""
    (words,) = wire.at(live_arrays(app, "step", "bar")["note"], step - 1)
    return words


def mean(app):
    """The mean kernel evaluations, as the page writes them."""
    return number(app, "step", "Mean kernel values").split()[0]


def layers(app, view, kind):
    """The layers of a kind of a live view."""
    return [layer for layer in live_arrays(app, "step", view)["layers"] if layer["kind"] == kind]


def exact(app):
    """f(x) of the query, as a line says it."""
    return float(wire.at(layers(app, "bounds", "rule")[0]["y"], 0)[0])


def test_the_interval_holds_the_exact_value_at_every_step(page):
    last = len(live_arrays(page, "step", "bar")["texts"]["words"]) - 1
    unsure, certain = layers(page, "bounds", "band")
    lower, upper = (
        np.append(wire.at(unsure[end], last), wire.at(certain[end], last)[1:])
        for end in ("low", "high")
    )
    assert (lower <= exact(page) + 1e-5).all()
    assert (exact(page) <= upper + 1e-5).all()
    assert (np.diff(upper - lower) <= 1e-5).all()
    assert number(page, "step", "Disagreements").startswith("0 of ")
    first = int(np.flatnonzero(lower * upper > 0)[0])
    assert live_at(page, "step") == str(first), "it opens where the class becomes certain"
    assert said(page, 5).startswith("After 5 kernel evaluations")


def test_the_step_only_reads_again(page, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a moved step fitted something")

    monkeypatch.setattr(AnytimeClassifier, "fit", refuse)
    monkeypatch.setattr(AnytimeClassifier, "trace", refuse)
    page.session_state["step"] = 9
    run(page)
    assert live_at(page, "step") == "9"
    known = layers(page, "bounds", "line")[2]
    assert known["name"] == "known now"
    assert list(wire.at(known["x"], 8)) == [9, 9]
    assert page.query_params["step"] in ("9", ["9"])


def test_another_query_and_its_step_have_the_same_readings_and_map(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("another query had all queries read again")

    page = open_page(PAGE, data="banana")
    monkeypatch.setattr(AnytimeStudy, "frames", refuse)
    monkeypatch.setattr(AnytimeStudy, "__init__", refuse)
    last = int(live_arrays(page, "step", "bar")["texts"]["words"][-1])
    between = next(k for k in range(31, last) if k not in positions(last))
    page.session_state["query"], page.session_state["step"] = 7, between
    run(page)
    assert live_at(page, "step") == str(between)
    (heat,) = layers(page, "effort_map", "heat")
    place = positions(last).index(next(k for k in positions(last) if k > between))
    decided = [int((wire.at(heat["values"], place + n) <= between).sum()) for n in (-1, 0, 1)]
    assert decided == sorted(decided)
    assert decided[0] < decided[2]


def test_every_order_has_its_lines(page):
    names = {t["name"] for t in figure(page, "orderings")["data"]}
    assert names == {"min_wz", "given", "sgma", "min_wz_n", "mean_lh_n", "hybrid"}
    for key in ("orderings", "orderings_decided"):
        for drawn in figure(page, key)["data"]:
            assert np.isfinite(array(drawn["y"])).all()


def test_the_basis_can_be_chosen(page):
    before = mean(page)
    page.selectbox(key="basis").set_value("given")
    run(page)
    assert mean(page) != before
    assert number(page, "step", "Disagreements").startswith("0 of ")


def test_spectral_is_offered_to_quadratic_kernels_only(page):
    assert "spectral" not in " ".join(page.selectbox(key="basis").options)
    rbf = open_page(PAGE, data="banana", basis="spectral")
    assert rbf.session_state["basis"] == "min_wz"
    quadratic = open_page(
        PAGE, data="sonar", kernel="poly_normalized", degree="2", basis="spectral"
    )
    assert quadratic.session_state["basis"] == "spectral"
    assert "spectral" in {t["name"] for t in figure(quadratic, "orderings")["data"]}
    assert number(quadratic, "step", "Disagreements").startswith("0 of ")


def test_all_queries_stand_in_the_chart_of_steps(page):
    (points,) = layers(page, "steps", "points")
    costs = wire.at(points["y"], 0)
    assert len(costs) == len(wire.at(points["id"], 0))
    assert float(mean(page)) == pytest.approx(costs.mean(), abs=0.06)


@pytest.mark.parametrize(
    "params", [{"step": "99999"}, {"step": "-3"}, {"step": "x"}, {"basis": "?"}]
)
def test_an_odd_url_falls_back(params):
    page = open_page(PAGE, data="banana", **params)
    assert page.session_state["basis"] == "min_wz"
    assert 1 <= int(live_at(page, "step")) <= 1_000


@pytest.mark.parametrize("order", ["min_wz", "min_wz_n", "mean_lh_n", "hybrid"])
def test_the_code_to_take_home_rebuilds_the_page(order):
    page = open_page(PAGE, data="two_moons", n=300, basis=order, step=7)
    names = {}
    exec(next(block.value for block in page.code if "AnytimeClassifier" in block.value), names)
    assert f"{names['clf'].steps(names['X_test']).mean():.1f}" == mean(page)
    low, high = names["lower"][0], names["upper"][0]
    assert f"[{low:.3g}, {high:.3g}]" in said(page, 7)


def test_time_stands_beside_counts(page):
    for kind in ("Speed, one query", "Speed, batch"):
        assert float(metric(page, kind).removesuffix("x")) > 0


def test_one_kernel_value_is_one(page):
    assert said(page, 1).startswith("After 1 kernel evaluation f(x)")
    assert "both classes are still possible" in said(page, 1)


def test_a_narrow_interval_is_told_with_ends_that_differ():
    page = open_page(PAGE, data="haberman", basis="given", step=90)
    told = live_arrays(page, "step", "bar")["note"]["words"]
    for words in told:
        (ends,) = re.findall(r"is in \[(.*), (.*)\]:", words)
        assert float(ends[0]) < float(ends[1])


def test_the_live_slider_draws_what_the_study_reads(page):
    names = {}
    exec(next(block.value for block in page.code if "AnytimeClassifier" in block.value), names)
    clf, queries = names["clf"], names["X_test"]
    (points,) = layers(page, "steps", "points")
    (heat,) = layers(page, "effort_map", "heat")
    x, y = wire.at(heat["x"], 0), wire.at(heat["y"], 0)
    rows = np.column_stack([a.ravel() for a in np.meshgrid(x, y)]).astype(np.float64)
    np.testing.assert_array_equal(wire.at(points["y"], 0), clf.steps(queries))
    lit = 0
    for step in (1, 5, 20):
        lower, upper = clf.decision_interval(queries, step)
        decided = wire.at(points["group"], step - 1)
        np.testing.assert_array_equal(decided, (lower > 0) | (upper < 0))
        assert decided.sum() >= lit
        lit = decided.sum()
        steps = heat["levels"][wire.at(heat["values"], step - 1)]
        assert np.mean(steps == clf.cut(step).steps(rows)) > 0.99, "places are rounded to 32 bits"


def test_the_live_interval_holds_f_and_changes_its_colour_where_it_is_certain(page):
    unsure, certain = layers(page, "bounds", "band")
    for step in (1, 5, 30):
        for band in (unsure, certain):
            assert (wire.at(band["low"], step - 1) <= exact(page) + 1e-5).all()
            assert (wire.at(band["high"], step - 1) >= exact(page) - 1e-5).all()
        low, high = (wire.at(certain[end], step - 1) for end in ("low", "high"))
        assert ((low > 0) | (high < 0)).all()
        drawn = np.append(wire.at(unsure["x"], step - 1), wire.at(certain["x"], step - 1))
        assert drawn.max() <= step


@pytest.mark.parametrize("last", [1, 12, 5000])
def test_large_bases_have_fewer_positions(last):
    found = positions(last)
    assert (found[0], found[-1]) == (1, last)
    assert len(found) <= 51


def test_a_first_load_is_light():
    for link in ({"data": "banana"}, {"data": "digits"}, {"data": "sonar"}):
        page = open_page(PAGE, **link)
        sent = sum(len(part.proto.bytes) for part in page.get("bidi_component"))
        assert sent < 1_500_000


def test_the_queries_themselves_may_tune_the_order():
    app = open_page(PAGE, data="two_moons", n=120, basis="hybrid", sample="test")
    code = next(block.value for block in app.code if "Anytime" in block.value)
    assert "query_sample=X_test" in code
    names = {}
    exec(code, names)
    assert f"{names['clf'].steps(names['X_test']).mean():,.1f}" == mean(app)


def test_what_has_no_effect_is_not_drawn_and_comes_back_as_it_was():
    app = open_page(PAGE, data="two_moons", n=120, sample="test")
    assert "sample" not in [box.key for box in app.selectbox], "min_wz is tuned on nothing"
    assert app.query_params["sample"] == "test"
    app.selectbox(key="basis").set_value("hybrid")
    run(app)
    assert app.selectbox(key="sample").value == "test"
    app.selectbox(key="sample").set_value("train")
    run(app)
    app.selectbox(key="basis").set_value("sgma")
    run(app)
    assert "sample" not in [box.key for box in app.selectbox]
    app.selectbox(key="basis").set_value("hybrid")
    run(app)
    assert app.selectbox(key="sample").value == "train"
