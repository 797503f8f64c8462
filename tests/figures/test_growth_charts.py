"""Charts of stored tables: what they draw is what the tables hold."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kmviz.figures import theme
from kmviz.figures.growth_charts import panels
from kmviz.figures.paper_charts import charts

STORED = Path(__file__).resolve().parents[2] / "benchmarks" / "papers"


@pytest.mark.parametrize(("name", "count"), [("falk_rivals", 6), ("falk_growth", 2)])
def test_a_stored_table_is_drawn_whole(name, count):
    frame = pd.read_csv(STORED / f"{name}.csv", comment="#")
    sizes = set(frame.groupby("data")["rows"].nunique())
    found = charts(frame)
    assert len(found) == count
    for figure, alt in found.values():
        assert alt
        theme.coloured(figure)  # plotly's own checks
        drawn = figure.parts()["data"]
        assert {len(trace["x"]) for trace in drawn} == sizes
        assert sum(np.isfinite(trace["y"]).sum() for trace in drawn) > len(drawn)


def test_a_panel_has_the_rows_of_its_set_and_a_colour_for_each_line():
    frame = pd.DataFrame({
        "data": ["a"] * 4 + ["b"] * 4, "method": ["m", "n"] * 4, "rows": [20, 20, 10, 10] * 2,
        "train": [4.0, 3.0, 2.0, 1.0, 8.0, 7.0, np.nan, 5.0],
    })  # fmt: skip
    parts = panels(frame, ("m", "n"), "method", "train", "s", True, title="").parts()
    lines = {(t["name"], t["xaxis"]): t for t in parts["data"]}
    assert lines["m", "x"]["y"].tolist() == [2.0, 4.0]
    assert lines["n", "x2"]["y"].tolist() == [5.0, 7.0]
    assert np.isnan(lines["m", "x2"]["y"][0])
    assert [t["showlegend"] for t in parts["data"]] == [True, True, False, False]
    assert lines["m", "x"]["line"]["color"] == lines["m", "x2"]["line"]["color"]
    assert [note["text"] for note in parts["layout"]["annotations"]] == ["a", "b"]
    assert parts["layout"]["yaxis2"]["type"] == "log"
