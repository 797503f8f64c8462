"""Anytime bounds: an interval that closes on f(x), and stops as soon as the sign is certain."""

from kmviz.ui.pages import anytime
from kmviz.ui.shell import method_page

method_page.draw(anytime.PAGE)
