"""The Anytime bounds page without a browser."""

import re

import numpy as np
import pytest

from kmviz.methods.anytime import AnytimeClassifier
from tests.pages.helpers import array, figure, metric, open_page, run, trace

PAGE = "pages/2_Anytime_Bounds.py"


@pytest.fixture
def page():
    return open_page(PAGE, data="banana")


def text(app):
    return " ".join(m.value for m in app.markdown)


def test_the_interval_holds_the_exact_value_at_every_step(page):
    exact = array(trace(page, "bounds", "exact")["y"])[0]
    lower = array(trace(page, "bounds", "interval")["y"])
    upper = array(trace(page, "bounds", "upper")["y"])
    assert (lower <= exact + 1e-5).all()
    assert (exact <= upper + 1e-5).all()
    assert (np.diff(upper - lower) <= 1e-5).all()
    assert metric(page, "Signs changed") == "0"
    assert "After **5 kernel values**" in text(page)


def test_the_step_only_reads_again(page, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a moved step fitted something")

    monkeypatch.setattr(AnytimeClassifier, "fit", refuse)
    monkeypatch.setattr(AnytimeClassifier, "trace", refuse)
    page.slider(key="step").set_value(9)
    run(page)
    assert "After **9 kernel values**" in text(page)
    known = trace(page, "bounds", "known after 9")
    assert list(array(known["x"])) == [9, 9]
    assert page.query_params["step"] in ("9", ["9"])


def test_every_order_has_its_lines(page):
    names = {t["name"] for t in figure(page, "orderings")["data"]}
    assert names == {"min_wz", "given", "sgma", "min_wz_n", "mean_lh_n", "hybrid", "cells"}
    for drawn in figure(page, "orderings")["data"]:
        assert np.isfinite(array(drawn["y"])).all()


def test_the_basis_can_be_chosen(page):
    before = metric(page, "Mean kernel values")
    page.selectbox(key="basis").set_value("given")
    run(page)
    assert metric(page, "Mean kernel values") != before
    assert metric(page, "Signs changed") == "0"


def test_spectral_is_offered_to_quadratic_kernels_only(page):
    assert "spectral" not in " ".join(page.selectbox(key="basis").options)
    rbf = open_page(PAGE, data="banana", basis="spectral")
    assert rbf.session_state["basis"] == "min_wz"
    quadratic = open_page(
        PAGE, data="sonar", kernel="poly_normalized", degree="2", basis="spectral"
    )
    assert quadratic.session_state["basis"] == "spectral"
    assert "spectral" in {t["name"] for t in figure(quadratic, "orderings")["data"]}
    assert metric(quadratic, "Signs changed") == "0"


def test_all_queries_stand_in_the_chart_of_steps(page):
    drawn = figure(page, "steps")["data"]
    histogram = drawn[-1]
    assert histogram["type"] == "histogram"
    costs = array(histogram["y"])
    points = sum(len(array(t["y"])) for t in drawn[:-2])  # without the query's mark
    assert points == len(costs)
    assert float(metric(page, "Mean kernel values")) == pytest.approx(costs.mean(), abs=0.06)


@pytest.mark.parametrize(
    "params", [{"step": "99999"}, {"step": "-3"}, {"step": "x"}, {"basis": "?"}]
)
def test_an_odd_url_falls_back(params):
    page = open_page(PAGE, data="banana", **params)
    assert page.session_state["basis"] == "min_wz"
    assert 0 <= page.session_state["step"] <= page.slider(key="step").max


def test_a_run_takes_nothing_back_from_a_slider_moved_meanwhile():
    page = open_page(PAGE, data="banana", step=4)
    page.slider(key="step").set_value(5)
    run(page)
    assert page.slider(key="step").value == 5
    for widget in (page.slider(key="step"), page.selectbox(key="basis")):
        assert not widget.proto.set_value, "an assigned value overrules the browser's"


@pytest.mark.parametrize("order", ["min_wz", "min_wz_n", "mean_lh_n", "hybrid", "cells"])
def test_the_code_to_take_home_rebuilds_the_page(order):
    page = open_page(PAGE, data="two_moons", n=300, basis=order, step=7)
    names = {}
    exec(next(block.value for block in page.code if "AnytimeClassifier" in block.value), names)
    assert f"{names['clf'].steps(names['X_test']).mean():.1f}" == metric(page, "Mean kernel values")
    low, high = names["lower"][0], names["upper"][0]
    assert any(f"[{low:.4g}, {high:.4g}]" in text.value for text in page.markdown)


def test_time_stands_beside_counts(page):
    for kind in ("Time, one query", "Time, batch"):
        assert float(metric(page, kind).removesuffix("x")) > 0


def test_one_kernel_value_is_one(page):
    page.slider(key="step").set_value(1)
    run(page)
    assert "After **1 kernel value**" in text(page)
    assert "of all queries are decided" in text(page)


def test_a_narrow_interval_is_told_with_ends_that_differ():
    page = open_page(PAGE, data="haberman", basis="given", step=90)
    (ends,) = re.findall(r"f\(x\) is in \*\*\[(.*), (.*)\]\*\*", page.markdown[1].value)
    assert float(ends[0]) < float(ends[1])
