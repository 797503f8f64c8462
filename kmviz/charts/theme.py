"""Colours by name, and what they look like in light and dark; symbols.

A chart names its colours (`COLORS[0]`, `INK`). The canvas fills them in from the page's own theme
(`.streamlit/config.toml`), `charts.plotly` from the palettes here, which say the same.
"""

from __future__ import annotations

from typing import Any

#: Ten categorical colours. The first two are the two classes.
COLORS = tuple(f"categorical {i}" for i in range(10))
#: What the classes look like from strong to weak and on to strong: -1 first.
DIVERGING = tuple(f"diverging {i}" for i in range(10))
#: What starts at nothing, from little to much.
SEQUENTIAL = tuple(f"sequential {i}" for i in range(10))
#: Text and lines, grid lines, background.
INK, FAINT, PAPER = "ink", "faint", "paper"
#: What some of them mean on every page: agreement, the query, a wrong or different answer.
GOOD, QUERY, ERROR = COLORS[2], COLORS[4], COLORS[6]

#: A symbol for each group: no chart relies on colour alone.
SYMBOLS = ("circle", "diamond", "square", "triangle-up")
#: Those of Plotly, for as many groups as there are colours.
ALL_SYMBOLS = (
    *SYMBOLS, "cross", "triangle-down", "pentagon", "hexagon", "star-square", "bowtie",
)  # fmt: skip

_LIGHT: dict[str, Any] = {
    INK: "#1C2430",
    FAINT: "#DDE2E9",
    PAPER: "#FFFFFF",
    "categorical": ["#0072B2", "#D55E00", "#009E73", "#8E2BD9", "#D4A200", "#3C2DA5", "#E858E0",
                    "#5A1E00", "#9C9CC4", "#3C2D4B"],
    "sequential": ["#E8F1F8", "#CFE2F0", "#B3D0E6", "#93BCDA", "#72A6CD", "#508FBF", "#2F78AE",
                   "#1A6299", "#0D4D80", "#063A66"],
    "diverging": ["#6BAED6", "#94C4E0", "#B8D7EA", "#D6E7F2", "#EEF4F8", "#FBF2EB", "#F9E1CF",
                  "#F6CBA9", "#F1AF7C", "#E98F4E"],
}  # fmt: skip
_DARK: dict[str, Any] = {
    INK: "#E8ECF2",
    FAINT: "#2C343F",
    PAPER: "#12161D",
    "categorical": ["#56B4E9", "#E69F00", "#2DC79B", "#E79BC4", "#F0E442", "#965AFF", "#FF2E63",
                    "#B4F096", "#A569A5", "#5A78D2"],
    "sequential": ["#16222E", "#1A3042", "#1E4059", "#225271", "#27668B", "#327CA5", "#4493BE",
                   "#5FABD3", "#86C3E4", "#B5DCF2"],
    "diverging": ["#1F6F9F", "#1B5B82", "#194967", "#17384D", "#162834", "#2D241B", "#47331C",
                  "#64431B", "#835419", "#A56714"],
}  # fmt: skip


def _palette(colors: dict[str, Any]) -> dict[str, Any]:
    named = dict(zip(COLORS, colors["categorical"]))
    named |= dict(zip(DIVERGING, colors["diverging"]))
    named |= dict(zip(SEQUENTIAL, colors["sequential"]))
    return colors | named | {"grey": [colors[PAPER], colors[INK]]}


#: For each theme: a colour for each name, and the colours of each scale from first to last.
PALETTES = {"light": _palette(_LIGHT), "dark": _palette(_DARK)}


def translucent(color: str, opacity: float) -> str:
    """Return a colour of a palette that what lies below shows through.

    Examples
    --------
    >>> from kmviz.charts.theme import translucent
    >>> translucent("#0072B2", 0.25)
    'rgba(0, 114, 178, 0.25)'
    """
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity:g})"
