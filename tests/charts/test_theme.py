"""The palettes of figures that leave the app are those of the app."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from kmviz.charts import Axis, Chart, Line, plotly, theme
from kmviz.charts.plane import thinned

CONFIG = tomllib.loads((Path(__file__).parents[2] / ".streamlit/config.toml").read_text("utf-8"))


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
    assert len(set(theme.ALL_SYMBOLS)) == len(theme.COLORS) == 10


def test_the_picture_to_take_home_needs_no_network_and_no_app():
    chart = Chart(key="k", alt="a", layers=[Line(x=[1, 2], y=[3, 4], color=theme.COLORS[1])])
    page = plotly.page(chart)
    assert not re.search(r"<(script|link)[^>]+(src|href)=", page)
    assert "#D55E00" in page[page.rindex("Plotly.newPlot(") :]


def test_thinned_is_sorted_unique_and_repeatable():
    rows = thinned(1_000, 100)
    assert len(set(rows)) == 100
    assert (np.diff(rows) > 0).all()
    assert np.array_equal(rows, thinned(1_000, 100))
    assert np.array_equal(thinned(5, 100), np.arange(5))


@pytest.mark.parametrize("name", ["light", "dark"])
def test_palettes_are_those_of_the_apps_theme(name):
    palette, said = theme.PALETTES[name], CONFIG["theme"][name]
    assert palette[theme.INK] == said["textColor"]
    assert palette[theme.PAPER] == said["backgroundColor"]
    assert [palette[color] for color in theme.COLORS] == said["chartCategoricalColors"]
    for scale in ("sequential", "diverging"):
        assert palette[scale] == said[f"chart{scale.title()}Colors"]


@pytest.mark.parametrize("name", ["light", "dark"])
def test_every_colour_has_a_look(name):
    for color in (*theme.COLORS, theme.INK, theme.FAINT, theme.PAPER):
        assert theme.translucent(theme.PALETTES[name][color], 0.5).startswith("rgba(")


@pytest.mark.parametrize(
    ("most", "ticks"), [(3.0, ("nticks", 4)), (500.0, ("dtick", "D2")), (1e9, ("dtick", 1))]
)
def test_log_axes_never_show_all_nine_digits(most, ticks):
    chart = Chart(key="k", alt="a", layers=[Line(x=[1, 2], y=[1, most])], y=Axis("y", log=True))
    assert plotly.figure(chart).layout.yaxis[ticks[0]] == ticks[1]
