"""Open a page without a browser, and read what it drew."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
from streamlit.testing.v1 import AppTest

from kmviz.charts import wire

ROOT = Path(__file__).resolve().parents[2]


def open_page(file: str = "app.py", **params: Any) -> AppTest:
    """Run the app, go to a page as a link with these URL parameters would, and run it."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    if file != "app.py":
        app.switch_page(file)
    for name, value in params.items():
        app.query_params[name] = str(value)
    return run(app)


def run(app: AppTest) -> AppTest:
    """Run the page again and insist that it raised nothing and drew nothing plotly refuses."""
    app.run()
    assert not app.exception, [error.value for error in app.exception]
    for chart in app.get("plotly_chart"):
        _refuse_odd_options(chart.proto.spec)
    return app


#: Charts and templates that plotly was shown already: it would say the same again.
_seen: set[int] = set()


def _refuse_odd_options(spec: str) -> None:
    """Raise where an option of a chart is no option."""
    if hash(spec) in _seen:
        return
    drawn = json.loads(spec)
    template = drawn["layout"].get("template", {})
    if hash(str(template)) not in _seen:
        go.layout.Template(template)
        _seen.add(hash(str(template)))
    go.Figure({**drawn, "layout": {**drawn["layout"], "template": "none"}})
    _seen.add(hash(spec))


def figure(app: AppTest, key: str) -> dict[str, Any]:
    """Return the specification of the chart with this key."""
    found = [c.proto for c in app.get("plotly_chart") if c.proto.id.endswith(key)]
    assert len(found) == 1, f"{len(found)} charts with key {key!r}"
    assert found[0].alt, f"chart {key!r} has no alt text"
    return json.loads(found[0].spec)


def trace(app: AppTest, key: str, name: str) -> dict[str, Any]:
    """Return the one trace of a chart whose name starts with `name`."""
    found = [t for t in figure(app, key)["data"] if str(t.get("name", "")).startswith(name)]
    assert len(found) == 1, f"{len(found)} traces named {name!r} in {key!r}"
    return found[0]


def array(values: Any) -> np.ndarray:
    """Return the numbers of a specification, packed or plain."""
    if not isinstance(values, dict):
        return np.asarray(values)
    packed = np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    shape = values.get("shape")
    return packed if shape is None else packed.reshape([int(n) for n in str(shape).split(",")])


def metric(app: AppTest, label: str) -> str:
    """Return the value of the metric with this label."""
    return next(m.value for m in app.metric if m.label == label)


def live_at(app: AppTest, param: str) -> str:
    """Return the value at which the live slider of a URL parameter stands, as it is written."""
    parts = {c.proto.id.rsplit("live_", 1)[-1]: c.proto for c in app.get("bidi_component")}
    stand = parts[f"{param}_stand"]
    position = json.loads(stand.mixed.json or stand.json)["position"]
    texts = wire.unpack(parts[f"{param}_bar"].bytes[16:])["texts"]
    return texts["words"][int(wire.at(texts["codes"], 0)[position])]


def number(app: AppTest, param: str, name: str) -> str:
    """Return a figure under the live slider of a URL parameter, where it stands."""
    parts = {c.proto.id.rsplit("live_", 1)[-1]: c.proto for c in app.get("bidi_component")}
    stand = parts[f"{param}_stand"]
    position = json.loads(stand.mixed.json or stand.json)["position"]
    bar = wire.unpack(parts[f"{param}_bar"].bytes[16:])
    texts = next(texts for label, texts, _ in bar["numbers"] if label == name)
    return wire.at(texts, position)[0]


def live_arrays(app: AppTest, param: str, view: str) -> dict[str, Any]:
    """Return what a live view was sent: its layers with the arrays of all positions."""
    parts = {c.proto.id.rsplit("live_", 1)[-1]: c.proto for c in app.get("bidi_component")}
    return wire.unpack(parts[f"{param}_{view}"].bytes[16:])


def live_layers(app: AppTest, param: str, view: str) -> list[dict[str, Any]]:
    """Return what a live view shows where its slider stands: the columns of each layer."""
    parts = {c.proto.id.rsplit("live_", 1)[-1]: c.proto for c in app.get("bidi_component")}
    stand = parts[f"{param}_stand"]
    position = json.loads(stand.mixed.json or stand.json)["position"]
    sent = wire.unpack(parts[f"{param}_{view}"].bytes[16:])
    return [
        {name: wire.at(column, position) for name, column in layer.items() if _is_column(column)}
        | {"kind": layer["kind"], "name": layer.get("name") or layer.get("names", [""])[0]}
        for layer in sent.get("layers", [sent])
    ]


def _is_column(value: Any) -> bool:
    return isinstance(value, dict) and ("words" in value or "starts" in value)
