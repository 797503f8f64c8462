"""Support vector tree: every query follows one path and uses only the vectors on it."""

from kmviz.ui.pages import svtree
from kmviz.ui.shell import method_page

method_page.draw(svtree.PAGE)
