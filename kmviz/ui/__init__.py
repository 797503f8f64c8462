"""Controls, state, caching and page frame: the only part of the package that knows Streamlit.

A page reads::

    problem = ui.frame("Nearest support vectors", own=("w",))
    ...
    ui.finish()
"""

from kmviz.ui.plane import grid, plane
from kmviz.ui.shell.controls import draw, row
from kmviz.ui.shell.frame import finish, frame, frame_without_data
from kmviz.ui.shell.menu import PAGES, page_link
from kmviz.ui.shell.parts import clicked, look_for, metrics, take_home
from kmviz.ui.shell.url import limit, put
from kmviz.views.problem import Problem

__all__ = [
    "PAGES",
    "Problem",
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
    "plane",
    "put",
    "row",
    "take_home",
]
