"""Reduced sets (Burges and Schoelkopf 1997): far fewer vectors that say nearly the same.

`space` brings a kernel to its simplest form, `objective` holds the distance and its gradient,
`basis` and `search` add one vector, `exact` knows the closed solutions, `path` grows machines
of every size, `sizing` chooses one, `shared` lets several machines share their vectors,
`threshold` finds the threshold anew, `engine` answers, `study` reads other sizes, `classifier` is
the estimator.
"""

from kmviz.methods.reduced.classifier import ReducedSetClassifier

__all__ = ["ReducedSetClassifier"]
