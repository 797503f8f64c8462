"""Controls, state, caching and page frame: the only part of the package that knows Streamlit.

A page reads::

    problem = ui.frame("Nearest support vectors", own={"w": ui.Number(10, 0, 200)})
    ...
    ui.finish()
"""

from kmviz.ui.controls import draw, parameters, row
from kmviz.ui.frame import finish, frame, frame_without_data
from kmviz.ui.menu import PAGES, page_link
from kmviz.ui.params import Choice, Control, Flag, Number, Words
from kmviz.ui.parts import clicked, look_for, metrics, take_home
from kmviz.ui.plane import grid, plane
from kmviz.ui.problem import Problem
from kmviz.ui.state import limit, put

__all__ = [
    "PAGES",
    "Choice",
    "Control",
    "Flag",
    "Number",
    "Problem",
    "Words",
    "clicked",
    "draw",
    "finish",
    "frame",
    "frame_without_data",
    "grid",
    "limit",
    "look_for",
    "metrics",
    "page_link",
    "parameters",
    "plane",
    "put",
    "row",
    "take_home",
]
