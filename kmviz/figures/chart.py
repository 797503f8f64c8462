"""A plotly figure that is sent to the browser as it was made.

plotly copies a figure whole before it writes it as text, and looks at every entry of its template
for arrays. That takes longer than making the figure, at each move of a slider.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

#: Kinds of numbers that plotly.js knows.
INTEGERS = ("i1", "u1", "i2", "u2", "i4", "u4")
KINDS = (*INTEGERS, "f4", "f8")


class Chart(go.Figure):
    """A figure whose `to_dict` copies nothing but arrays, which are in its traces only.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.figures.chart import Chart
    >>> chart = Chart(data=[{"type": "scatter", "y": np.float32([1.0, 2.0])}])
    >>> chart.to_dict()["data"][0]["y"]
    {'dtype': 'f4', 'bdata': 'AACAPwAAAEA='}
    """

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as plotly.js reads it, with the figure's own layout, not a copy."""
        return {"data": [_sent(trace) for trace in self._data], "layout": self._layout}

    def parts(self) -> dict[str, Any]:
        """Return the figure's own traces and layout, arrays as they are."""
        return {"data": self._data, "layout": self._layout}


def _sent(value: Any) -> Any:
    """Return a trace, or a part of one, with its arrays as bytes."""
    if isinstance(value, dict):
        return {name: _sent(part) for name, part in value.items()}
    if isinstance(value, np.ndarray) and value.size:
        kind = value.dtype.str[1:] if value.dtype.kind == "f" else _integers(value)
        return _typed(value, kind) if kind in KINDS else value
    return value


def _integers(values: NDArray[Any]) -> str | None:
    """Return the smallest kind that holds these integers, None if there is none."""
    if values.dtype.kind not in "iu":
        return None
    least, most = values.min(), values.max()
    fitting = (
        kind for kind in INTEGERS if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max
    )
    return next(fitting, None)


def _typed(values: NDArray[Any], kind: str) -> dict[str, str]:
    content = b64encode(values.astype(kind).tobytes()).decode()
    shape = {"shape": ", ".join(map(str, values.shape))} if values.ndim > 1 else {}
    return {"dtype": kind, "bdata": content, **shape}
