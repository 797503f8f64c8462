"""Anytime bounds: the exact machine's answer, certified before it is computed.

D. DeCoste (2003), "Anytime Query-Tuned Kernel Machine Classifiers Via Cholesky Factorization".

Departures
----------
- The jitter stands on the diagonal of K_ZZ only, as a share of it: a basis vector then has a
  small coordinate of its own, which neither W nor any query has, and the bounds stay valid.
  On K_WW as well (footnote 2) it distorts ||W||.
- Eq. 25 takes what is left of W after k coordinates; W_{k+1} of eq. 11 is not known yet when
  candidates for Z_k are compared.
- The bounds are widened by what rounding can lose. Where rounding spoils the factorisation the
  jitter grows tenfold until it succeeds.
- A query whose sign the bias alone decides takes no kernel value (the paper starts at k = 1).
- "sgma" compares all candidates at each step, not 59 drawn ones; "min_wz_n", "mean_lh_n" and
  "hybrid" draw theirs from at most max(m, 1000) training rows.
- A basis of all the machine's vectors ends in the exact sum, whose kernel values it has by then;
  after any other the exact sum asks only for the values that are missing.
- Kernels: one that is not known to be a Mercer kernel is refused (no matrix proves it), unless it
  says `is_mercer = True`.
- `share` below 1 is not in the paper: it trades the certificate for a promise, which held-out rows
  prove.
- `order="spectral"` is not in the paper: see `kmviz.methods.anytime.spectral`. It answers rows of
  float32 in float32, within bounds as much wider; traces and `bounds` are computed in float64.
- `AnytimeRegressor` is not in the paper: the same interval, stopped at a width in place of a sign.
- More than two classes: where votes tie, the exact outputs break the tie, so that the answer is
  still that of the exact machines.
"""

from kmviz.methods.anytime.classifier import AnytimeClassifier
from kmviz.methods.anytime.regressor import AnytimeRegressor

__all__ = ["AnytimeClassifier", "AnytimeRegressor"]
