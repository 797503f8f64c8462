"""Nearest support vectors: add up the nearest first, stop when the sum is safe."""

from kmviz.ui.pages import nsv
from kmviz.ui.shell import method_page

method_page.draw(nsv.PAGE)
