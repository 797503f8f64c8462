"""One look: ten colours that stay apart, and a picture that needs no network."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from kmviz.figures import theme
from kmviz.figures.anytime import bounds
from kmviz.figures.reduced import reduced_error
from kmviz.traces import AnytimeTrace

CONFIG = tomllib.loads((Path(__file__).parents[2] / ".streamlit/config.toml").read_text())

# Machado, Oliveira and Fernandes (2009), full severity, applied to linear RGB.
BLINDNESS = {
    "none": np.eye(3),
    "protan": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "tritan": np.array([[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]),
    "deutan": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
}


def linear_rgb(color: str) -> np.ndarray:
    values = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ np.clip(rgb, 0, 1) / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("kind", BLINDNESS)
def test_ten_colours_stay_apart_for_every_eye(mode, kind):
    colors = CONFIG["theme"][mode]["chartCategoricalColors"]
    assert len(colors) == len(set(colors)) == 10
    seen = np.array([lab(BLINDNESS[kind] @ linear_rgb(c)) for c in colors])
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=2)[np.triu_indices(10, 1)]
    assert apart.min() > 8.0  # a difference of 2.3 is just noticeable
    classes = np.linalg.norm(seen[0] - seen[1])
    assert classes > 40


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_both_themes_define_all_scales(mode):
    for scale in ("chartSequentialColors", "chartDivergingColors"):
        assert len(CONFIG["theme"][mode][scale]) == 10


def test_every_colour_has_a_symbol_of_its_own():
    assert len(set(theme.SYMBOLS)) == len(theme.COLORS) == 10


def test_the_printed_colours_are_those_of_the_light_theme():
    printed = [theme._PRINTED[slot] for slot in theme.COLORS]
    assert printed == CONFIG["theme"]["light"]["chartCategoricalColors"]


def test_the_picture_to_take_home_needs_no_network_and_no_app():
    figure = go.Figure(go.Scatter(x=[1, 2], y=[3, 4], marker={"color": theme.COLORS[1]}))
    page = theme.standalone(figure)
    assert not re.search(r"<(script|link)[^>]+(src|href)=", page)
    chart = page[page.rindex("Plotly.newPlot(") :]
    assert "#D55E00" in chart
    assert theme.COLORS[1] not in chart


def test_thinned_is_sorted_unique_and_repeatable():
    rows = theme.thinned(1_000, 100)
    assert len(set(rows)) == 100
    assert (np.diff(rows) > 0).all()
    assert np.array_equal(rows, theme.thinned(1_000, 100))
    assert np.array_equal(theme.thinned(5, 100), np.arange(5))


def test_points_under_others_are_left_out():
    assert theme.uncovered(np.zeros(10), np.ones(10)).tolist() == list(range(theme.FEW))
    x = np.repeat([0.0, 1.0, 1.0, 5.0], [7, 2, 9, 1])
    kept = theme.uncovered(x, np.repeat([0.0, 0.0, 3.0, 3.0], [7, 2, 9, 1]))
    assert kept.tolist() == [0, 1, 2, 3, 7, 8, 9, 10, 11, 12, 18]
    apart = np.arange(100.0)
    assert len(theme.uncovered(apart, apart)) == 100
    assert len(theme.uncovered([], [])) == 0


@pytest.mark.parametrize("letter", ["x", "y"])
@pytest.mark.parametrize("decades", [1.0, 1.3, 1.9, 2.6, 3.2, 4.0, 5.7, 9.0])
def test_log_axes_never_show_all_nine_digits(letter, decades):
    values = theme.light(np.geomspace(20.0, 20.0 * 10**decades, 5))
    lines = [theme.trace("scatter", name="a", **{"x": [1, 2], "y": [1, 2], letter: values})]
    axis = theme.figure(lines, "x", "y", **{f"{letter}axis": {"type": "log"}}).layout[
        f"{letter}axis"
    ]
    low, high = axis.range
    assert 10**low < values[0] < values[-1] < 10**high
    # plotly.js: powers of ten from 0.7 decades a tick, all digits below 0.3
    a_tick = (high - low) / axis.nticks
    assert 0.3 < a_tick <= 0.7 if decades < 2.7 else 0.7 < a_tick < 1.5


def test_log_axes_are_told_apart_by_their_own_values():
    lines = [
        theme.trace("scatter", name="a", x=[1, 10], y=theme.light([1e-9, 1e-2])),
        theme.trace("scatter", name="a", x=[1, 10], y=theme.light([0.0, 20.0, 70.0]), yaxis="y2"),
        theme.trace("scatter", name="a", x=[1, 10], y=theme.light([1.0, 400.0]), yaxis="y3"),
    ]
    log = {"type": "log"}
    layout = theme.figure(
        lines, "x", "y", yaxis=log, yaxis2=log, yaxis3={**log, "domain": [0.0, 0.3]}
    ).layout
    assert layout.yaxis.tickformat is None, "powers of ten"
    assert layout.yaxis2.range[0] > 1, "0 has no place on a logarithmic axis"
    assert layout.yaxis2.tickformat == ",~g"
    assert layout.yaxis3.nticks == 3, "no room for 2 and 5 in a low chart"
    assert layout.xaxis.range is None


def test_a_log_axis_without_values_is_drawn():
    empty = theme.trace("scatter", name="a", x=[], y=[])
    assert theme.figure([empty], "x", "y", yaxis={"type": "log"}).layout.yaxis.range == (0, 1)


def test_words_of_every_axis_are_as_dark_as_the_page_s():
    chart = theme.figure(
        [], "x", "y", yaxis2={"title": {"text": "z"}, "type": "log", "range": [0, 1]}
    )
    for axis in (chart.layout.xaxis, chart.layout.yaxis, chart.layout.yaxis2):
        assert axis.tickfont.color == axis.title.font.color == theme.INK
    assert chart.layout.yaxis2.title.text == "z"


def test_words_in_a_chart_are_as_dark_as_the_page_unless_they_say_otherwise():
    words = [{"text": "plain"}, {"text": "own", "font": {"size": 9, "color": theme.COLORS[3]}}]
    drawn = theme.figure([theme.star(0, 0)], "x", "y", annotations=words).layout.annotations
    assert [one.font.color for one in drawn] == [theme.INK, theme.COLORS[3]]
    assert drawn[1].font.size == 9


def lines(figure: go.Figure) -> dict[str, str]:
    return {trace.name: trace.line.color for trace in figure.data if "lines" in (trace.mode or "")}


def test_lines_that_are_no_class_have_no_class_colour():
    k = np.arange(1.0, 9.0)
    record = AnytimeTrace(
        exact=1.0, output=1.0, stop=4, partial=k, gap=k, lower=k - 9, upper=k + 9, residual_sq=k,
        w_rest=k, q_coords=k, value=k, index=np.arange(8),
    )  # fmt: skip
    curves = pd.DataFrame({"rho": k, "error": k, "bayes_error": k}, index=range(1, 9))
    for figure in (bounds(record, 3), reduced_error(curves, 3.0, 2)):
        assert not set(theme.COLORS[:2]) & set(lines(figure).values())
