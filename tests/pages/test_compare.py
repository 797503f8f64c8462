"""The Compare page without a browser."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC, LinearSVC
from streamlit.testing.v1 import AppTest

import kmviz
from kmviz.charts import wire
from kmviz.evaluation import compare as evaluation
from kmviz.ui import falk, reduced
from kmviz.ui.pages import anytime, compare, nsv, svtree
from kmviz.ui.runtime.problem import load_chosen, trained
from kmviz.ui.shell import url
from kmviz.ui.shell.menu import COMPARE
from kmviz.views import compare as views
from kmviz.views.controls import CONTROLS, USUAL
from tests.pages.helpers import array, figure, live_arrays, live_at, open_page, run

PAGE = "pages/6_Compare.py"
OWN = {1: nsv.PAGE.own, 2: anytime.PAGE.own, 3: reduced.OWN, 4: falk.OWN, 5: svtree.PAGE.own}
FEW = "nsv_approximate,anytime,svtree,linear_svc"


@pytest.fixture(scope="module")
def banana() -> AppTest:
    return open_page(PAGE, data="banana", methods=FEW)


def drawn_points(app):
    """Row of the table -> where its point stands, and how large it is."""
    found = {}
    for trace in figure(app, "frontier")["data"]:
        rows = np.atleast_1d(array(trace.get("customdata", [])))
        for at, row in enumerate(rows):
            place = (array(trace["x"])[at], array(trace["y"])[at])
            found[int(row)] = (*place, array(trace["marker"]["size"])[at])
    return found


def test_every_setting_is_a_point_and_a_row(banana):
    drawn = figure(banana, "frontier")
    told = {text for t in drawn["data"] for text in t.get("hovertext", [])}
    for title in ("exact machine, float32", "NSV from an approximation", "anytime bounds, min Wz",
                  "SV tree, as published", "linear SVM"):  # fmt: skip
        assert any(title in text for text in told)
    assert drawn["layout"]["xaxis"]["type"] == "log"
    table = banana.dataframe[1].value
    assert table.index.tolist() == ["exact", *FEW.split(",")]
    assert table.loc["anytime", "disagreements"] == 0


def test_the_points_stand_where_the_table_says(banana):
    table = banana.dataframe[1].value
    points = drawn_points(banana)
    assert sorted(points) == list(range(len(table)))
    for row, (cost, error, _) in points.items():
        known = table.iloc[row]
        assert cost == pytest.approx(known["batch_us"], rel=1e-4)
        assert error == pytest.approx(1 - known["accuracy"], rel=1e-4)
    by_size = sorted(points, key=lambda row: points[row][2])
    differ = table["disagreement"].to_numpy()[by_size]
    assert (np.diff(differ) >= 0).all(), "the more answers differ, the larger the point"


def test_efforts_of_all_methods_stand_beside_one_another_on_one_scale(banana):
    sent = {name: live_arrays(banana, "effort_map", f"effort_map_{name}")
            for name in ("exact", "nsv_approximate", "anytime", "svtree")}  # fmt: skip
    table = banana.dataframe[1].value
    m = table.loc["exact", "steps_mean"]
    assert live_at(banana, "effort_map") == "0"
    for view in sent.values():
        heat, _, line, *_ = view["layers"]
        assert heat["range"] == [1.0, m]
        assert len(line["x"]["data"]) > 10, "the boundary is on top"
    assert set(efforts(sent["exact"])) == {m}
    fitted = evaluation.trained(evaluation.resolve(["svtree"])["svtree"], _reference())[0]
    x, y = (wire.at(sent["svtree"]["layers"][0][axis], 0) for axis in "xy")
    rows = np.column_stack([a.ravel() for a in np.meshgrid(x, y)])
    near = fitted.steps(rows)  # the places were rounded to four bytes on their way
    assert np.mean(near == efforts(sent["svtree"])) > 0.99
    with pytest.raises(KeyError):
        live_arrays(banana, "effort_map", "effort_map_linear_svc")


def efforts(view):
    """The kernel values of each cell."""
    heat = view["layers"][0]
    return heat["levels"][wire.at(heat["values"], 0)]


def _reference():
    """What the page was compared with."""
    values = url.values_of({"data": "banana"}, COMPARE.opening, compare.OWN)
    problem = trained(load_chosen(values), values)
    return compare.measurements(problem).bench.ref


def test_five_figures_come_first_and_all_of_them_behind(banana):
    first, whole = (banana.dataframe[i].value for i in (0, 1))
    assert list(first.columns) == list(views.FIRST)
    assert len(views.FIRST) == 6, "the name, and five figures"
    assert set(views.FIRST) < set(whole.columns)


def test_everything_that_was_chosen_is_drawn_or_named():
    app = open_page(PAGE, data="banana", methods="svtree,boosting")
    assert len(drawn_points(app)) == 3
    app.selectbox(key="cost").set_value("values")
    run(app)
    assert len(drawn_points(app)) == 2
    assert any("Not on this scale" in i.value and "gradient boosting" in i.value for i in app.info)


def test_the_maps_say_that_their_mean_is_over_the_plane(banana):
    assert any("its mean over the plane" in c.value for c in banana.caption)


def test_nothing_is_advised_while_settings_are_measured(monkeypatch):
    known, charts = SimpleNamespace(rows={}), []
    row = dict.fromkeys(evaluation.COLUMNS, 0.5) | {"error": "", "queries": 10}
    monkeypatch.setattr(compare, "_measure", lambda known, name: known.rows.update({name: row}))
    monkeypatch.setattr(compare.pictures, "plotted", lambda chart, key: charts.append(chart))
    table = compare.measured(known, ["svtree", "linear_svc"], "batch")
    assert table.index.tolist() == ["exact", "svtree", "linear_svc"]
    assert [_advised(chart) for chart in charts] == [False, False]
    assert _advised(views.picture(table, "batch"))


def _advised(chart):
    """Whether a chart marks a setting as advised."""
    return any(getattr(layer, "labels", None) == ["advised"] for layer in chart.layers)


def test_the_page_says_on_which_rows_it_chose(banana):
    assert any("chosen on these same rows" in c.value for c in banana.caption)


def test_the_advice_says_how_often_answers_differ(banana):
    said = banana.success[0].value
    assert "of 2,000 differ" in said or "Take the exact machine" in said


def test_another_cost_or_a_method_less_measures_nothing_again(banana, monkeypatch):
    def fail(*_, **__):
        raise AssertionError("it was measured already")

    monkeypatch.setattr(evaluation.Bench, "measured", fail)
    monkeypatch.setattr(evaluation.Bench, "exact_row", fail)
    banana.selectbox(key="cost").set_value("single")
    run(banana)
    assert "one at a time" in figure(banana, "frontier")["layout"]["xaxis"]["title"]["text"]
    banana.multiselect(key="methods").set_value(["svtree", "linear_svc"])
    next(button for button in banana.button if button.label == "Compare").click()
    run(banana)
    assert banana.dataframe[0].value.index.tolist() == ["exact", "svtree", "linear_svc"]
    assert banana.query_params["methods"] in ("svtree,linear_svc", ["svtree,linear_svc"])


def test_a_method_that_fails_shows_its_error_in_the_table():
    app = open_page(PAGE, data="banana", methods="anytime_spectral,linear_svc")
    table = app.dataframe[0].value
    assert "degree 2" in table.loc["anytime_spectral", "error"]
    assert table.loc["linear_svc", "error"] == ""


def test_odd_methods_in_the_url_fall_back(monkeypatch):
    monkeypatch.setattr(compare, "measured", lambda known, names, cost: _table(names))
    app = open_page(PAGE, methods="magic,,%00", cost="soul")
    assert app.session_state["methods"] == list(USUAL)
    assert app.session_state["cost"] == "batch"


def _table(names):
    row = dict.fromkeys(evaluation.COLUMNS, 1.0) | {"error": "", "queries": 10}
    return evaluation.as_table(dict.fromkeys(["exact", *names], row))


@pytest.mark.parametrize(
    ("name", "page", "params"),
    [
        ("nsv_w50", "pages/1_Nearest_Support_Vectors.py",
         {"w": "50", "q": "20", "order": "nearest", "filter": "true", "start": "empty",
          "calibration": "cross_fit", "margin": "none", "promise": "none", "confidence": "0.95"}),
        ("anytime_hybrid", "pages/2_Anytime_Bounds.py", {"basis": "hybrid"}),
        ("reduced_5", "pages/3_Reduced_Set.py",
         {"vectors": "10", "method": "joint", "shift": "0", "tune": "none"}),
        ("falk", "pages/4_Local_Models.py",
         {"k": "250", "kp": "125", "select": "point", "cover": "random", "width": "machine"}),
        ("svtree_path", "pages/5_Support_Vector_Tree.py",
         {"split": "exact", "refit": "path", "stem": "0.5", "height": "64", "mean": "0",
          "candidates": "0"}),
        ("virtual", "pages/3_Reduced_Set.py", {"shift": "1"}),
    ],
)  # fmt: skip
def test_a_clicked_setting_opens_on_its_own_page(name, page, params, monkeypatch):
    opened = {}
    session = {}
    table = SimpleNamespace(index=["exact", name])
    monkeypatch.setattr(compare.st, "session_state", session)
    monkeypatch.setattr(compare.st, "switch_page", lambda file, query_params: opened.update(
        file=file, params=query_params))  # fmt: skip
    monkeypatch.setattr(compare.url, "link", lambda title: {"data": "banana"})
    compare.open_clicked(table, 1)
    compare.follow(200)
    assert opened == {"file": page, "params": {"data": "banana"} | params}
    for key, text in params.items():
        assert key in OWN[int(page[6])]
        assert CONTROLS[key].text(CONTROLS[key].parse(text)) == text
    compare.follow(200)
    assert compare._OPEN not in session


def test_a_clicked_rival_has_no_page_to_open(monkeypatch):
    session = {}
    monkeypatch.setattr(compare.st, "session_state", session)
    for row in (1, None):
        compare.open_clicked(SimpleNamespace(index=["exact", "cpsp"]), row)
    assert session == {}


def test_the_code_to_take_home_runs():
    problem = SimpleNamespace(code="X, y = data()\nsvc = SVC().fit(X, y)\n")
    table = evaluation.as_table({
        "exact": {
            "disagreement_high": 0.001, "batch_vs_blas": 1.0, "steps_mean": 50.0, "error": "",
        },
        "svtree_path": {"disagreement_high": 0.004, "batch_vs_blas": 9.0, "error": ""},
    })  # fmt: skip
    code = views.code(problem, table)
    assert "kmviz.SVTreeClassifier(svc, split='exact', refit='path', stem=0.5)" in code
    assert isinstance(_run(code)["fast"], kmviz.SVTreeClassifier)
    local = _run(views.code(problem, table.rename(index={"svtree_path": "falk"})))["fast"]
    assert isinstance(local, kmviz.FaLKClassifier)
    assert isinstance(local.kernel, kmviz.kernels.RBF)
    linear = table.rename(index={"svtree_path": "linear_svc"}).assign(accuracy=0.9)
    assert isinstance(_run(views.code(problem, linear))["fast"], LinearSVC)


def _run(code: str) -> dict:
    lines = code.replace("data()", "__import__('sklearn.datasets').datasets.make_moons(60)")
    names: dict = {"SVC": SVC}
    exec(lines.replace('kmviz.save(fast, "fast.skops")', ""), names)
    return names


def test_no_two_columns_of_the_table_have_one_title():
    titles = [one["label"] for one in compare.columns().values() if one and one["label"]]
    assert len(titles) == len(set(titles)) > 10


def test_more_accurate_is_only_what_chance_would_not_do():
    # 14 answers differ, 9 of them to the good and 5 to the bad: a coin would do as well
    drawn = pd.DataFrame(
        {"accuracy": [0.897, 0.903, 0.880], "queries": [2000] * 3, "disagreements": [14, 47, 30]}
    )
    assert views._beats(drawn, 0.895).tolist() == [False, True, False]
