"""What a chart sends: the same as plotly would, in less time."""

import json

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
import pytest

from kmviz.figures.chart import Chart

ARRAYS = {
    "float32": np.linspace(0, 1, 7, dtype=np.float32),
    "float64": np.linspace(0, 1, 7),
    "small integers": np.arange(-3, 100),
    "larger integers": np.array([0, 70_000, -5]),
    "huge integers": np.array([0, 2**40]),
    "bytes": np.arange(9, dtype=np.uint8),
    "grid": np.arange(12.0).reshape(3, 4),
    "columns": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "every other": np.arange(12.0)[::2],
    "text": np.array(["a", "b"]),
    "none": np.array([]),
    "booleans": np.array([True, False]),
}


def read(sent):
    """The numbers of a typed array, as plotly.js reads them."""
    if not isinstance(sent, dict):
        return np.asarray(sent)
    import base64

    values = np.frombuffer(base64.b64decode(sent["bdata"]), dtype=sent["dtype"])
    return values.reshape([int(n) for n in sent["shape"].split(",")]) if "shape" in sent else values


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_arrive_whole(name):
    traces = [{"type": "heatmap", "z": ARRAYS[name], "marker": {"color": ARRAYS[name]}}]
    chart = Chart(data=traces, _validate=False)
    sent = json.loads(pio.to_json(chart.to_dict(), validate=False))["data"][0]
    for got in (sent["z"], sent["marker"]["color"]):
        np.testing.assert_array_equal(read(got), ARRAYS[name])


def test_everything_else_is_what_plotly_sends():
    traces = [
        {"type": "scatter", "x": ARRAYS["float32"], "customdata": ARRAYS["small integers"],
         "marker": {"size": 3, "line": {"color": ["red", "blue"]}}},
        {"type": "contour", "z": ARRAYS["grid"], "colorscale": [[0, "red"], [1, "blue"]]},
    ]  # fmt: skip
    layout = {"title": {"text": "t"}, "shapes": [{"type": "line", "x0": 0, "x1": 1}]}
    ours, theirs = Chart(data=traces, layout=layout), go.Figure(data=traces, layout=layout)
    assert ours.to_dict() == theirs.to_dict()
    ours.update_layout(height=77)
    ours.update_traces(name="n")
    assert ours.to_dict()["layout"]["height"] == 77
    assert ours.to_dict()["data"][1]["name"] == "n"


def test_sending_changes_nothing():
    values = np.arange(5)
    chart = Chart(data=[{"type": "scatter", "y": values}])
    assert chart.to_dict() == chart.to_dict()
    np.testing.assert_array_equal(chart.data[0].y, values)
