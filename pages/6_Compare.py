"""Compare: what each method costs and changes on this data, and which to deploy."""

from kmviz.ui.pages import compare

compare.draw()
