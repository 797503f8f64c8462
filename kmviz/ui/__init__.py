"""Pages, widgets, URL and jobs: the only part of the package that knows Streamlit.

A page is drawn by its module in `ui.pages`; what they share stands in `ui.shell`.
"""

from kmviz.ui.shell.controls import draw, row
from kmviz.ui.shell.frame import finish, frame
from kmviz.ui.shell.parts import look_for, metrics, take_home

__all__ = ["draw", "finish", "frame", "look_for", "metrics", "row", "take_home"]
