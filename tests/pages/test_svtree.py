"""The Support vector tree page."""

import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from kmviz.charts import wire
from kmviz.methods.svtree import SVTreeClassifier
from kmviz.ui.shell import parts
from kmviz.views import svtree
from kmviz.views.svtree import positions
from tests.pages.helpers import live_arrays, live_at, live_layers, number, open_page, run

PAGE = "pages/5_Support_Vector_Tree.py"


def opened():
    return open_page(PAGE, data="banana", C=10, height=6, split="exact")


@pytest.fixture(scope="module")
def shown():
    """A page to look at, for tests that move nothing."""
    return opened()


@pytest.fixture
def page():
    """A page of one's own, for tests that move something."""
    return opened()


def test_a_link_opens_the_view(shown):
    assert live_at(shown, "height") == "6"
    assert shown.selectbox(key="split").value == "exact"
    assert shown.query_params["height"] == "6"
    lit = live_layers(shown, "height", "tree_path")[1]["y"]
    assert lit[0] == -1
    assert len(lit) <= 6
    steps = ", ".join(live_layers(shown, "height", "tree_map")[-1]["labels"]).split(", ")
    assert sorted(map(int, steps)) == list(range(1, len(lit) + 1))
    assert float(number(shown, "height", "Mean kernel values").split()[0]) <= 6


def test_height_only_reads_again(page, monkeypatch):
    monkeypatch.setattr(SVTreeClassifier, "fit", None)
    before = np.sum(live_layers(page, "height", "tree_path")[2]["group"])
    page.session_state["height"] = 3
    run(page)
    after = np.sum(live_layers(page, "height", "tree_path")[2]["group"])
    assert after <= 7 < before
    assert page.query_params["height"] == "3"


def test_the_trace_to_take_home_is_that_of_the_tree_shown(monkeypatch):
    made = {}
    monkeypatch.setattr(parts, "_download", lambda label, make, *_: made.setdefault(label, make))
    app = open_page(PAGE, data="banana", height=4)
    table = pd.read_csv(io.StringIO(made["Trace (CSV)"]()))
    shown = app.dataframe[0].value
    assert table["node"].tolist()[1:] == shown["node"].tolist()
    np.testing.assert_allclose(table["partial"][1:], shown["running sum"])


def curve(app, name):
    """A line of the accuracy by height."""
    lines = live_layers(app, "tree_heights", "tree_heights")
    return next(line["y"] for line in lines if line["name"].startswith(name))


def test_the_curve_ends_where_the_tree_does(shown):
    accuracy = curve(shown, "tree")
    tree = live_arrays(shown, "height", "tree_path")
    assert "categorical 0" not in tree["layers"][2]["colors"], "which is a class"
    assert -float(np.min(tree["layers"][2]["y"]["data"])) == len(accuracy)
    share = float(number(shown, "height", "Accuracy").rstrip("%")) / 100
    assert share == pytest.approx(accuracy[5] / 100, abs=0.001)


@pytest.mark.parametrize("params", [{"height": 999}, {"height": "x", "split": "no", "node": -4}])
def test_what_is_off_falls_back(params):
    page = open_page(PAGE, data="banana", **params)
    assert 1 <= int(live_at(page, "height")) <= 64
    assert page.selectbox(key="split").value == "alternating"


def test_images_and_the_other_fit():
    page = open_page(PAGE, data="digits", refit="path", height=5)
    assert live_arrays(page, "height", "tree_digits")["bank"].any()
    assert "projection" in wire.at(live_arrays(page, "height", "tree_map")["title"], 0)[0]
    assert page.selectbox(key="refit").value == "path"


def test_a_chosen_node_shows_its_rows(page):
    page.session_state["node"] = 2
    run(page)
    assert any("Node 2:" in e.label for e in page.expander)
    *_, nodes, ring = live_layers(page, "height", "tree_path")
    assert (ring["x"][0], ring["y"][0]) == (nodes["x"][2], nodes["y"][2])


@pytest.mark.parametrize("kernel", ["linear", "poly", "poly_normalized"])
def test_images_under_every_kernel(kernel):
    page = open_page(PAGE, data="digits", n=100, kernel=kernel)
    assert live_arrays(page, "height", "tree_digits")["shape"] == [8, 8]


def test_the_normalised_kernel_takes_rows_as_its_machine_does():
    page = open_page(PAGE, data="two_moons", n=120, kernel="poly_normalized", height=8)
    assert float(number(page, "height", "Same answer").rstrip("%")) > 85
    (told,) = [i.value for i in page.info if "regions at height" in i.value]
    assert int(re.search(r"(\d+) regions at height", told)[1]) > 3


@pytest.mark.parametrize(
    ("accuracy", "said"),
    [
        ([0.6, 0.9, 0.8], ("height 2, 90.0%", "is above the full SVM", "the whole tree has 80.0%")),
        ([0.6, 0.85, 0.851], ("reaches the full SVM", "From height 2 on", "less than half")),
        ([0.6, 0.7], ("15.0% below", "not above the linear SVM", "From height 2 on")),
    ],
)
def test_words_on_heights_say_what_the_curve_shows(accuracy, said):
    heights = pd.RangeIndex(1, len(accuracy) + 1)
    curves = pd.DataFrame({"accuracy": accuracy, "reduced": accuracy}, index=heights)
    text = svtree.hint_heights(curves, linear=0.7, full=0.85)
    assert "a reduced set of as many vectors does as well" in text
    for words in said:
        assert words in text


def test_tiny_kernel_values_are_short_in_the_table(shown):
    columns = json.loads(shown.dataframe[0].proto.columns)
    for name in ("kernel value", "score", "threshold", "running sum"):
        assert columns[name]["type_config"]["format"] == "%.4g"


def test_a_sum_that_is_weighed_anew_is_said():
    said = "not what the sum grows by"
    for refit in ("column", "path"):
        app = open_page(PAGE, data="two_moons", n=150, refit=refit)
        assert any(said in info.value for info in app.info) == (refit == "path")


def test_the_improved_tree_keeps_to_its_budget():
    app = open_page(PAGE, data="banana", refit="path", stem=0.5, mean=10, split="exact", height=64)
    assert 8 < float(number(app, "height", "Mean kernel values").split()[0]) < 12
    assert "max_mean=10.0" in next(block.value for block in app.code if "SVTree" in block.value)


@pytest.mark.parametrize(
    "view",
    [
        {"refit": "column"},
        {"refit": "path", "stem": 0.25},
        {"refit": "path", "stem": 0.5, "mean": 7.5, "candidates": 3},
    ],
    ids=str,
)
def test_the_code_to_take_home_rebuilds_the_tree_shown(view):
    app = open_page(PAGE, data="two_moons", n=300, height=5, **view)
    names = {}
    exec(next(block.value for block in app.code if "SVTree" in block.value), names)
    mean = number(app, "height", "Mean kernel values").split()[0]
    assert mean == f"{names['clf'].steps(names['X_test']).mean():.1f}"
    assert names["clf"].tree_.height <= 5


def test_a_reduced_set_at_the_same_price_stands_beside(shown):
    reduced, accuracy = curve(shown, "reduced set"), curve(shown, "tree")
    assert len(reduced) == len(accuracy)
    assert ((reduced > 40) & (reduced <= 100)).all()


def drawn(page, view, kind):
    """The layers of a kind of a live view."""
    return [layer for layer in live_arrays(page, "height", view)["layers"] if layer["kind"] == kind]


def test_the_live_slider_draws_what_the_study_reads(shown):
    (heat,) = drawn(shown, "tree_map", "heat")
    (effort,) = drawn(shown, "effort_map", "heat")
    names = {}
    exec(next(block.value for block in shown.code if "SVTree" in block.value), names)
    whole = names["clf"]
    x, y = wire.at(heat["x"], 0), wire.at(heat["y"], 0)
    rows = np.column_stack([a.ravel() for a in np.meshgrid(x, y)])
    for height in (1, 3, 6):
        clf = whole.cut(height)
        told = heat["levels"][wire.at(heat["values"], height - 1)]
        np.testing.assert_allclose(
            told, np.clip(clf.decision_function(rows), -1.5, 1.5), atol=3.0 / 254
        )
        steps = effort["levels"][wire.at(effort["values"], height - 1)]
        np.testing.assert_array_equal(steps, clf.steps(rows))
        (owner,) = drawn(shown, "tree_map", "regions")
        leaf = wire.at(owner["owner"], height - 1)
        assert len(np.unique(leaf)) <= 2 ** (height - 1)


def test_the_lit_path_is_the_querys(shown):
    path = drawn(shown, "tree_path", "line")[1]
    nodes = drawn(shown, "tree_path", "points")[0]
    lit = shown.dataframe[0].value["node"].to_numpy()
    y, at = wire.at(path["y"], 5), wire.at(nodes["x"], 5)
    np.testing.assert_array_equal(y, -np.arange(1, len(lit) + 1))
    np.testing.assert_allclose(wire.at(path["x"], 5), at[lit])


def test_images_on_the_path_are_faint_below_the_height():
    page = open_page(PAGE, data="digits", refit="path", height=5)
    strip = live_arrays(page, "height", "tree_digits")
    asked = len(wire.at(strip["shown"], 0))
    full = [int(wire.at(strip["faint_after"], i)[0]) for i in range(5)]
    assert full == [min(k, asked) for k in range(1, 6)]
    assert live_arrays(page, "height", "effort_map")["kind"] == "images"


def test_a_table_shows_its_projection_and_a_first_load_is_light():
    page = open_page(PAGE, data="sonar")
    assert live_arrays(page, "height", "tree_map")["layers"]
    for link in ({"data": "sonar"}, {"data": "banana"}):
        page = open_page(PAGE, **link)
        sent = sum(len(part.proto.bytes) for part in page.get("bidi_component"))
        assert sent < 1_500_000


@pytest.mark.parametrize(("highest", "here"), [(1, 1), (12, 5), (64, 33)])
def test_high_trees_have_fewer_positions(highest, here):
    found = positions(highest, here)
    assert here in found
    assert (found[0], found[-1]) == (1, highest)
    assert len(found) <= 40
