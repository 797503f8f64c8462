"""Reduced sets (Burges and Schoelkopf 1997): far fewer vectors that say nearly the same.

The vectors come from `kmviz.methods.reduction`. `fitting` turns parameters into an engine,
`threshold` finds the threshold anew, `tune` moves vectors towards the machine's answers, `engine`
answers, `study` reads other sizes, `classifier` and `regressor` are the estimators.
"""

from kmviz.methods.reduced.classifier import ReducedSetClassifier
from kmviz.methods.reduced.regressor import ReducedSetRegressor

__all__ = ["ReducedSetClassifier", "ReducedSetRegressor"]
