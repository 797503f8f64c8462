"""Local model selection (section 4.3) and the generalisation bound of section 4.4.

Definitions 3 and 4 choose for one query (kNNSVM), definition 5 for all local models (FaLK-SVMl).

Definition 5: for m random centres, the k' most internal points of the k-neighbourhood are held out
fold by fold, and the parameters with the least mean error serve all local models. k grows until
the error does (section 5.2.1).

Departures. kappa is 5. m is not ten but as many as let every k be judged by a fifth of the rows
(2,500 to 20,000), since ten neighbourhoods of a large set say little about the others, and no more
than there will be centres, about; of two k within a standard error of each other the smaller wins.
A third of the neighbourhoods judges all settings; those that are clearly worse than the best are
then dropped. k grows until the error has been over the least twice in a row, or the work done
passes `BUDGET`; work is counted in kernel entries, not in seconds, so that the same data gives the
same choice on any machine. The paper's grid is fixed; here a C or a percentile that wins at its end
is followed beyond it, as long as the error falls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from kmviz.kernels import is_known
from kmviz.loops.falk_select import errors_given, errors_radial
from kmviz.methods.falk.training import TOLERANCE, centred, is_radial, most_steps, padded_kernel
from kmviz.methods.progress import report

if TYPE_CHECKING:
    import pandas as pd

COSTS = (1.0, 4.0, 16.0, 64.0)
PERCENTILES = (1.0, 10.0, 50.0, 90.0)
SIZES = (125, 250, 500, 1000, 2000, 4000)
N_CENTERS, N_FOLDS = 10, 5
#: Neighbourhoods that judge every setting, at least.
FIRST = 5
#: Steps past an end of the grid, at most.
EXTENSIONS = 4
#: Held-out points that judge a k, least and most; between them a fifth of the rows.
HELD_OUT = (2_500, 20_000)
#: Kernel entries after which no larger k is tried: some twenty seconds of one core.
BUDGET = 20_000_000_000


#: The rows around a point, nearest first, and their classes: what one task of a cluster is sent.
Neighborhood = tuple[NDArray[Any], NDArray[np.int32]]


def neighborhoods(
    rows: NDArray[Any], labels: NDArray[np.int32], lists: NDArray[np.int32]
) -> list[Neighborhood]:
    """Return rows and classes of each list of neighbours."""
    return [(rows[own], labels[own]) for own in lists]


def sizes_for(n_neighbors: int | str, n: int) -> list[int]:
    """Return the k that are tried on n rows: multiples of a given one, or those of "auto"."""
    given = SIZES if n_neighbors == "auto" else [f * int(n_neighbors) for f in (1, 2, 4, 8)]
    return sorted({min(k, n) for k in given})


def judges_of(n: int, k: int, n_cover: int | None) -> int:
    """Return how many neighbourhoods judge a k: no more than there are centres, about."""
    n_inner = inner_of(k, n_cover)
    return min(max(N_CENTERS, _held_out(n) // n_inner), 2 * -(-n // n_inner))


def inner_of(k: int, n_cover: int | None) -> int:
    """Return k', the inner points that are held out of a neighbourhood; None is half of k."""
    return max(1, min(n_cover or k // 2, k))


def _held_out(n: int) -> int:
    return int(np.clip(n // 5, *HELD_OUT))


def choose_parameters(
    judges: Callable[[int, int], list[Neighborhood]], n: int, kernel: Any, sizes: list[int],
    n_cover: int | None, n_jobs: int | None,
) -> pd.DataFrame:  # fmt: skip
    """Cross-validate k, C and percentile; returns the errors, least k and C first.

    Columns: `n_neighbors, C, percentile, error` and `held_out`, the points an error rests on.

    Parameters
    ----------
    judges : function of m and k
        The neighbourhoods of the first m training rows in random order, k rows each.
    n : int
        Training rows in all.
    sizes : list of int
        The k to try, rising.
    n_cover : int or None
        k', the inner points that are held out of a neighbourhood; None is half of k.
    """
    import pandas as pd

    percentiles = PERCENTILES[::-1] if is_radial(kernel) else (50.0,)
    tables: list[pd.DataFrame] = []
    least, rises, spent = np.inf, 0, 0

    def tried(k: int, percentiles: tuple[float, ...], costs: tuple[float, ...]) -> Any:
        n_inner, own = inner_of(k, n_cover), judges(judges_of(n, k, n_cover), k)

        def errors(part: list[Neighborhood], wanted: NDArray[np.bool_] | None) -> Any:
            results = Parallel(n_jobs=n_jobs, prefer="threads")(
                delayed(neighborhood_errors)(judge, kernel, percentiles, costs, n_inner, wanted)
                for judge in part
            )
            return np.array([wrong for wrong, _ in results]), sum(work for _, work in results)

        n_first = min(len(own), max(FIRST, len(own) // 3))
        found, spent = errors(own[:n_first], None)
        total, counts = found.sum(axis=0), np.full(found.shape[1:], n_first)
        if n_first < len(own):
            kept = promising(found)
            found, more = errors(own[n_first:], kept)
            total, counts = total + found.sum(axis=0), counts + kept * len(found)
            spent += more
        return _table(k, total / counts, percentiles, costs, counts * n_inner), spent

    for k in sizes:
        table, work = tried(k, percentiles, COSTS)
        tables.append(table)
        spent += work
        report(0.0, f"k = {k}: error {table['error'].min():.3f}")
        rises = rises + 1 if table["error"].min() > least else 0
        least = min(least, float(table["error"].min()))
        if rises == 2 or spent > BUDGET:
            break
    return _beyond(pd.concat(tables, ignore_index=True), tried)


def promising(errors: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which settings may yet turn out the best, of errors (neighbourhoods, ...) so far.

    Those whose errors are not over the least ones by two standard errors of the difference.
    """
    flat = errors.reshape(len(errors), -1)
    over = flat - flat[:, [flat.mean(axis=0).argmin()]]
    spread = over.std(axis=0, ddof=1) / np.sqrt(len(flat)) if len(flat) > 1 else np.inf
    return (over.mean(axis=0) <= 2.0 * spread).reshape(errors.shape[1:])


def _beyond(table: pd.DataFrame, tried: Any) -> pd.DataFrame:
    """Follow the best C, then the best percentile, past the ends of the grid while it pays."""
    import pandas as pd

    for name in ("C", "percentile"):
        for _ in range(EXTENSIONS):
            best = best_row(table)
            further = _further(name, table[name], float(best[name]))
            if further is None:
                break
            point = {"C": float(best["C"]), "percentile": float(best["percentile"])}
            point[name] = further
            more, _ = tried(int(best["n_neighbors"]), (point["percentile"],), (point["C"],))
            table = pd.concat([table, more], ignore_index=True)
            if more["error"].min() >= best["error"]:
                break
    return table


def _further(name: str, known: pd.Series, best: float) -> float | None:
    """Return the next value past the end that `best` stands at; None in the middle."""
    if known.nunique() == 1:
        return None
    if name == "C":
        return best * 4.0 if best == known.max() else best / 4.0 if best == known.min() else None
    return best / 10.0 if best == known.min() else 100.0 if known.max() == best < 100.0 else None


def neighborhood_errors(
    judge: Neighborhood, kernel: Any, percentiles: tuple[float, ...], costs: tuple[float, ...],
    n_inner: int, wanted: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.float64], int]:  # fmt: skip
    """Return the k'-internal error of one neighbourhood, (percentiles, costs), and the work.

    Costs rise. Those that are not `wanted` with a percentile have an error of 0.
    """
    if wanted is None:
        wanted = np.ones((len(percentiles), len(costs)), dtype=np.bool_)
    wrong = np.zeros((len(percentiles), len(costs)), dtype=np.int64)
    own, labels = judge
    steps = most_steps(len(own))
    present, codes = np.unique(labels, return_inverse=True)
    if len(present) == 1:  # nothing to tell apart
        return wrong / n_inner, 0
    members, codes = np.arange(len(own), dtype=np.int32), codes.astype(np.int32)
    if is_radial(kernel):
        wide = own.astype(np.float64, copy=False)  # the loop is compiled for one type of rows
        spent = errors_radial(
            wide, codes, len(present), members, np.array(percentiles), np.array(costs), wanted,
            N_FOLDS, n_inner, TOLERANCE, steps, wrong,
        )  # fmt: skip
        return wrong / n_inner, spent
    plain = kernel.plain if is_known(kernel) else kernel
    K, diagonal = padded_kernel(plain, centred(plain, own)[0])
    spent = errors_given(
        members, codes, len(present), K, diagonal, np.array(costs), wanted[0], N_FOLDS, n_inner,
        TOLERANCE, steps, wrong[0],
    )  # fmt: skip
    return wrong / n_inner, spent


def choose_each(
    rows: NDArray[Any], labels: NDArray[np.int32], neighbors: NDArray[np.int32], kernel: Any,
    n_inner: int, n_jobs: int | None,
) -> NDArray[np.float64]:  # fmt: skip
    """Choose C and percentile for each neighbourhood on its own; returns both, (n, 2).

    Definition 4: the folds come from the `n_inner` points nearest to the query, and the others of
    its neighbourhood are in every training fold. With all k of them it is definition 3. Among
    equals the smaller C, then the larger percentile.
    """
    percentiles = PERCENTILES[::-1] if is_radial(kernel) else (50.0,)
    grid = np.array([(C, p) for C in COSTS for p in percentiles])
    results = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(neighborhood_errors)(judge, kernel, percentiles, COSTS, n_inner)
        for judge in neighborhoods(rows, labels, neighbors)
    )
    return grid[[int(np.argmin(errors.T)) for errors, _ in results]]


def best_row(tried: pd.DataFrame) -> pd.Series:
    """Return the choice: the smallest k within a standard error of the least error, and its best.

    Errors of different k rest on different points, those of one k on the same, or on fewer where
    these were enough to drop a setting, which is then not chosen. Among equals the smaller C, then
    the larger percentile, which make smoother models.
    """
    most = tried.groupby("n_neighbors")["held_out"].transform("max")
    tried = tried[tried["held_out"] == most]
    least = tried.loc[tried["error"].idxmin()]
    slack = np.sqrt(least["error"] * (1 - least["error"]) / least["held_out"])
    enough = tried.loc[tried["error"] <= least["error"] + slack, "n_neighbors"].min()
    return tried.loc[tried.loc[tried["n_neighbors"] == enough, "error"].idxmin()]


def _table(
    k: int, errors: NDArray[Any], percentiles: tuple[float, ...], costs: tuple[float, ...],
    held_out: NDArray[Any],
) -> pd.DataFrame:  # fmt: skip
    import pandas as pd

    grid = [(k, C, p) for C in costs for p in percentiles]
    table = pd.DataFrame(grid, columns=["n_neighbors", "C", "percentile"])
    return table.assign(error=errors.T.ravel(), held_out=held_out.T.ravel())


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
    A bound over 1 says nothing, and for small k / n it is over 1. With `error` held fixed it has a
    pole where k / n equals gamma(n, 2): where it is least as k moves means nothing.

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
