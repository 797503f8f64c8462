"""Start: the data, the SVM, and what one answer costs."""

from kmviz.ui.pages import start

start.draw()
