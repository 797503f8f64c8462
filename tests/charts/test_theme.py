"""The palettes of figures that leave the app are those of the app."""

import tomllib
from pathlib import Path

import pytest

from kmviz.charts import theme

CONFIG = tomllib.loads((Path(__file__).parents[2] / ".streamlit/config.toml").read_text("utf-8"))


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
