"""Nearest support vectors.

D. DeCoste and D. Mazzoni (2003), "Fast query-optimized kernel machine classification via
incremental approximate nearest support vectors", ICML. A query's partial sum over its nearest
support vectors decides as soon as it leans further than any calibration row that the exact
machine puts on the other side. Figure 2 (the walk), 4.1 (thresholds), 4.2 (tug of war), 4.3
(principal components), 5.1 (linear filter), 5.2 (generated rows) and 5.3 (any `KernelMachine`
can be walked, a reduced set too).

Files, as a fit uses them: `classifier` trains and assembles; `calibration` and `folds` find rows
that the machine has not seen; `layout` lays a machine out; `walker` records outputs of every step;
`thresholds` computes the envelope from them; `engine` chooses stages and answers (one call of
`kmviz.loops.nsv_walk.respond`). `stages` fits reduced vectors, `classes` those that pairs share.

Departures
----------
- `calibration="cross_fit"`: training rows are their own nearest neighbours and flatter the
  thresholds, so by default machines that have not seen a row calibrate on it.
- `start="approximate"`: the sum starts from the approximation of *all* terms by the principal
  components, which section 4.3 uses for the order alone, and exact terms replace the largest
  approximate ones. Most queries then touch no vector at all.
- `start="reduced"`: before that, a few reduced vectors (5.3 walks a reduced set in place of the
  machine) decide what they can, in stages of up to 160 that use one another's kernel values. Each
  is regressed on the filter's output and the kernel values known by then; thresholds and promise
  are as for every other start, half a scatter further out. Cross-fitted rows share the reduced
  vectors of the whole machine.
- With several classes, which the paper has not: `predict` asks pairs of classes until one has won
  all of its own, and under `start="reduced"` all pairs share the reduced vectors (`shared`).
- `max_disagreement`: thresholds are widened until held-out rows prove, with a stated confidence,
  how rarely the answer differs from the exact machine's.
- Thresholds are widened by a few rounding errors, and f(x) = 0 counts as negative, as `predict`
  has it.
- Principal components (eq. 10) are those of the rows that the kernel's plain form takes: for a
  normalised polynomial kernel, rows with one column more, of length 1. Projections (eq. 11) are
  brought to length 1 again, so that the approximate kernel is normalised as the kernel is.
- The filter's output is brought to the scale of f, which changes no decision. Where fewer than
  five calibration rows mislead it, its threshold is at least one and a half scatters of f
  around it.
- `order="nearest"` is the default; the paper's is the tug of war (4.2), which took more steps on
  every pair of digits tried.
"""

from kmviz.methods.nsv.classifier import NSVClassifier

__all__ = ["NSVClassifier"]
