"""FaLK-SVMl's local model selection (section 4.3) and the generalisation bound of section 4.4.

Definition 5: for m random centres, the k' most internal points of the k-neighbourhood are held out
fold by fold, and the parameters with the least mean error serve all local models. k grows until
the error does (section 5.2.1).

Departures. kappa is 5. m is not ten but as many as let every k be judged by a fifth of the rows
(2,500 to 20,000), since ten neighbourhoods of a large set say little about the others; of two k
within a standard error of each other the smaller wins. k grows until the error has been over the
least twice in a row, or the work done passes `BUDGET`; work is counted in kernel entries, not in
seconds, so that the same data gives the same choice on any machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from kmviz.kernels import RBF, is_known
from kmviz.loops.falk_select import errors_given, errors_radial
from kmviz.methods.falk.models import MAX_STEPS, TOLERANCE, padded_kernel
from kmviz.methods.progress import report

if TYPE_CHECKING:
    import pandas as pd

COSTS = (1.0, 4.0, 16.0, 64.0)
PERCENTILES = (1.0, 10.0, 50.0, 90.0)
SIZES = (125, 250, 500, 1000, 2000, 4000)
N_CENTERS, N_FOLDS = 10, 5
#: Held-out points that judge a k, least and most; between them a fifth of the rows.
HELD_OUT = (2_500, 20_000)
#: Kernel entries after which no larger k is tried: some twenty seconds of one core.
BUDGET = 20_000_000_000


def choose_parameters(
    rows: NDArray[Any], labels: NDArray[np.int32], n_classes: int, index: Any, kernel: Any,
    sizes: list[int] | None, seed: int, n_jobs: int | None,
) -> pd.DataFrame:  # fmt: skip
    """Cross-validate k, C and percentile; returns the errors, least k and C first.

    Columns: `n_neighbors, C, percentile, error` and `held_out`, the points an error rests on.
    """
    import pandas as pd

    n = len(rows)
    candidates = sorted({min(k, n) for k in (sizes or SIZES)})
    shuffled = np.random.default_rng(seed).permutation(n)
    radial = is_known(kernel) and isinstance(kernel.plain, RBF)
    percentiles = PERCENTILES[::-1] if radial else (50.0,)
    tables: list[pd.DataFrame] = []
    held_out = int(np.clip(n // 5, *HELD_OUT))
    least, rises, spent = np.inf, 0, 0
    for k in candidates:
        centers = shuffled[: max(N_CENTERS, 2 * held_out // k)]
        neighbors = index.query(index.rows[centers], k)
        results = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(neighborhood_errors)(rows, labels, (members,), n_classes, kernel, percentiles)
            for members in neighbors
        )
        errors = np.mean([wrong for wrong, _ in results], axis=0)
        spent += sum(work for _, work in results)
        tables.append(_table(k, errors, percentiles, len(centers) * max(1, k // 2)))
        report(0.0, f"k = {k}: error {errors.min():.3f}")
        rises = rises + 1 if errors.min() > least else 0
        least = min(least, float(errors.min()))
        if rises == 2 or spent > BUDGET:
            break
    return pd.concat(tables, ignore_index=True)


def neighborhood_errors(
    rows: NDArray[Any], labels: NDArray[np.int32], neighborhood: tuple[NDArray[np.int32]],
    n_classes: int, kernel: Any, percentiles: tuple[float, ...],
) -> tuple[NDArray[np.float64], int]:  # fmt: skip
    """Return the k'-internal error of one neighbourhood, (percentiles, costs), and the work."""
    (members,) = neighborhood
    n_inner = max(1, len(members) // 2)
    wrong = np.zeros((len(percentiles), len(COSTS)), dtype=np.int64)
    costs = np.array(COSTS)
    if is_known(kernel) and isinstance(kernel.plain, RBF):
        spent = errors_radial(
            rows, labels, n_classes, members, np.array(percentiles), costs, N_FOLDS, n_inner,
            TOLERANCE, MAX_STEPS, wrong,
        )  # fmt: skip
        return wrong / n_inner, spent
    plain = kernel.plain if is_known(kernel) else kernel
    K, diagonal = padded_kernel(plain, rows[members])
    spent = errors_given(
        members, labels, n_classes, K[:1], np.float32(1.0), K, np.ones(len(K), dtype=np.bool_),
        diagonal, costs, N_FOLDS, n_inner, TOLERANCE, MAX_STEPS, wrong[0],
    )  # fmt: skip
    return wrong / n_inner, spent


def best_row(tried: pd.DataFrame) -> pd.Series:
    """Return the choice: the smallest k within a standard error of the least error, and its best.

    Errors of different k rest on different points, those of one k on the same. Among equals the
    smaller C, then the larger percentile, which make smoother models.
    """
    least = tried.loc[tried["error"].idxmin()]
    slack = np.sqrt(least["error"] * (1 - least["error"]) / least["held_out"])
    enough = tried.loc[tried["error"] <= least["error"] + slack, "n_neighbors"].min()
    return tried.loc[tried.loc[tried["n_neighbors"] == enough, "error"].idxmin()]


def _table(
    k: int, errors: NDArray[Any], percentiles: tuple[float, ...], held_out: int
) -> pd.DataFrame:
    import pandas as pd

    grid = [(k, C, p) for C in COSTS for p in percentiles]
    table = pd.DataFrame(grid, columns=["n_neighbors", "C", "percentile"])
    return table.assign(error=errors.T.ravel(), held_out=held_out)


def risk_bound(n: int, k: int, error: float, complexity: float, eta: float = 0.05) -> float:
    """Return the bound of eq. 13 on the risk of a local SVM, with probability 1 - eta.

    Parameters
    ----------
    n, k : int
        Training points, and points of the neighbourhood.
    error : float
        nu, the share of misclassified points in the neighbourhood.
    complexity : float
        h, the VC dimension of the local machines; d + 1 for hyperplanes.
    eta : float

    Notes
    -----
    A bound over 1 says nothing, and for small k / n it is over 1: what counts is where it is least.

    Examples
    --------
    >>> from kmviz.methods.falk.selection import risk_bound
    >>> bool(risk_bound(10**6, 10**5, 0.05, 3) < risk_bound(10**6, 10**5, 0.15, 3))
    True
    """
    # eq. 13: R <= (k/N nu + gamma(N, h)) / |k/N - gamma(N, 2)|
    share = k / n
    return (share * error + _gamma(n, complexity, eta)) / abs(share - _gamma(n, 2, eta))


def _gamma(n: int, h: float, eta: float) -> float:
    # theorem 6: gamma(N, h) = sqrt((h ln(2N/h + 1) - ln(eta/2)) / N)
    return float(np.sqrt((h * np.log(2 * n / h + 1) - np.log(eta / 2)) / n))
