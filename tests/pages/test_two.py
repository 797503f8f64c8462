"""Two settings side by side on every page of a method: what was kept, and what is shown now."""

import numpy as np
import pytest

from kmviz.views.controls import CONTROLS
from tests.pages.helpers import (
    array,
    figure,
    live_arrays,
    live_at,
    live_layers,
    number,
    open_page,
    run,
)

VIEW = {"data": "sketch", "query": "3"}
#: Page -> the choice that moves, where it is kept and where it goes, the page's own chart of the
#: query with its slider, and the layers that tell one setting from another.
PAGES = {
    "1_Nearest_Support_Vectors": ("w", "10", "0", "trajectory", "w", [2]),
    "2_Anytime_Bounds": ("basis", "given", "sgma", "bounds", "step", [0, 1]),
    "3_Reduced_Set": ("vectors", "4", "2", "boundary", "vectors", [1, 2]),
    "4_Local_Models": ("k", "10", "40", "local_map", "k", [0, 2]),
    "5_Support_Vector_Tree": ("height", "4", "1", "tree_map", "height", [0, 1]),
}


def drawn(app, key, slider, layers):
    """Return the numbers that a chart draws, by layer."""
    if layers is None:
        return plotted(app, key, slider)
    shown = live_layers(app, "side_a" if key.startswith("side") else slider, key)
    return {k: [v for v in shown[k].values() if isinstance(v, np.ndarray)] for k in layers}


def plotted(app, key, name):
    """Return the numbers that a Plotly chart draws, by trace."""
    traces = [t for t in figure(app, key)["data"] if str(t.get("name", "")).startswith(name)]
    return {
        t.get("name"): [array(t[axis]) for axis in ("x", "y", "z") if axis in t] for t in traces
    }


def ranges(app):
    """Return the ranges of A's and B's upright axes."""
    if any("live_side_a" in c.proto.id for c in app.get("bidi_component")):
        return [live_arrays(app, "side_a", key)["y"]["range"] for key in ("side_a", "side_b")]
    layouts = [figure(app, key)["layout"] for key in ("side_a", "side_b")]
    return [layout["yaxis"].get("range") for layout in layouts]


def same(first, second):
    return first.keys() == second.keys() and all(
        np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        for name in first
        for a, b in zip(first[name], second[name], strict=True)
    )


def text(app):
    return "\n".join(one.value for one in [*app.markdown, *app.caption])


@pytest.mark.parametrize("page", PAGES)
def test_what_was_kept_stands_beside_what_is_shown(page):
    name, first, second, chart, slider, layers = PAGES[page]
    app = open_page(f"pages/{page}.py", **VIEW, **{name: first})
    kept = drawn(app, chart, slider, layers)
    assert "side_a" not in str([c.proto.id for c in app.get("plotly_chart")])
    assert "side_a" not in str([c.proto.id for c in app.get("bidi_component")])
    app.button(key="keep_a").click()
    run(app)
    assert "A is kept, and is what you see now" in text(app)
    app.session_state[name] = CONTROLS[name].parse(second)
    run(app)
    assert f"{name}~{first}" in app.query_params["a"], "a link opens both"
    assert same(drawn(app, "side_a", slider, layers), kept)
    assert same(drawn(app, "side_b", slider, layers), drawn(app, chart, slider, layers))
    assert not same(drawn(app, "side_a", slider, layers), drawn(app, "side_b", slider, layers))
    ends = ranges(app)
    assert ends[0] == ends[1]
    app.button(key="drop_a").click()
    run(app)
    assert "a" not in app.query_params


def test_a_link_may_name_one_choice_or_the_machine_and_the_table_says_what_came_of_it():
    app = open_page("pages/5_Support_Vector_Tree.py", **VIEW, height=2, C=10, a="height~1,C~0.1")
    assert "From A to B: Height **1** → **2**; C **0.1** → **10**." in text(app)
    table = next(m.value for m in app.markdown if "From A to B" in m.value).splitlines()
    head, _, kept, now = ([cell.strip() for cell in row.split("|")] for row in table[2:6])
    at = head.index("All queries: mean k")
    assert now[at].startswith(number(app, "height", "Mean kernel values").split()[0])
    assert kept[at] != now[at]
    assert live_at(app, "height") == "2", "the slider is B's"
