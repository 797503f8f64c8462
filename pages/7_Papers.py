"""Papers: the published tables, our results beside them."""

from kmviz.ui.pages import papers

papers.draw()
