"""Each page draws the charts that its contract names, each once."""

from __future__ import annotations

from collections import Counter

import pytest

from kmviz.charts import wire
from tests.pages.helpers import open_page

CHARTS = {
    "app.py": {"boundary", "effort"},
    "pages/1_Nearest_Support_Vectors.py": {"effort", "trajectory", "neighbors", "tradeoff"},
    "pages/2_Anytime_Bounds.py": {"bounds", "orderings", "steps"},
    "pages/3_Reduced_Set.py": {"reduced_vectors", "reduced_error", "boundary"},
    "pages/4_Local_Models.py": {"local_map", "local_sweep"},
    "pages/5_Support_Vector_Tree.py": {"tree_map", "tree_path", "effort_map"},
}


@pytest.mark.parametrize("page", CHARTS)
def test_a_page_draws_its_charts_each_once(page):
    app = open_page(page, data="banana", n=150)
    keys = [chart.proto.id.rpartition("-")[2] for chart in app.get("plotly_chart")]
    parts = [wire.unpack(c.proto.bytes[16:]) for c in app.get("bidi_component") if c.proto.bytes]
    times = Counter(keys + [part["key"] for part in parts if "key" in part])
    assert set(times) >= CHARTS[page]
    assert set(times.values()) == {1}, times
