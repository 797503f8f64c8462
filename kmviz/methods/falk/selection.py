"""Local model selection (section 4.3).

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


#: The rows around a point, nearest first, and their classes: what a task carries.
Neighborhood = tuple[NDArray[Any], NDArray[np.int32]]


def neighborhoods(
    rows: NDArray[Any], labels: NDArray[np.int32], lists: NDArray[np.int32]
) -> list[Neighborhood]:
    """Return rows and classes of each list of neighbours."""
    return [(rows[members], labels[members]) for members in lists]


def sizes_for(n_neighbors: int | str, n: int) -> list[int]:
    """Return the k that are tried on n rows: multiples of a given one, or those of "auto"."""
    sizes = SIZES if n_neighbors == "auto" else [f * int(n_neighbors) for f in (1, 2, 4, 8)]
    return sorted({min(k, n) for k in sizes})


def n_judges(n: int, k: int, n_cover: int | None) -> int:
    """Return how many neighbourhoods judge a k: no more than there are centres, about."""
    n_inner = inner_of(k, n_cover)
    return min(max(N_CENTERS, _held_out(n) // n_inner), 2 * -(-n // n_inner))


def inner_of(k: int, n_cover: int | None) -> int:
    """Return k', the inner points that are held out of a neighbourhood; None is half of k."""
    return max(1, min(n_cover or k // 2, k))


def _held_out(n: int) -> int:
    return int(np.clip(n // 5, *HELD_OUT))


class Grid:
    """Cross-validates settings of k, C and percentile on some neighbourhoods (definition 5).

    Parameters
    ----------
    neighborhoods_of : function of m and k
        The neighbourhoods of the first m training rows in random order, k rows each.
    n : int
        Training rows in all.
    kernel : kernel
    n_cover : int or None
        k', the inner points that are held out of a neighbourhood; None is half of k.
    n_jobs : int or None

    Attributes
    ----------
    entries : int
        Kernel entries that all settings so far have taken.
    """

    def __init__(
        self, neighborhoods_of: Callable[[int, int], list[Neighborhood]], n: int, kernel: Any,
        n_cover: int | None, n_jobs: int | None,
    ) -> None:  # fmt: skip
        self.neighborhoods_of, self.n, self.kernel = neighborhoods_of, n, kernel
        self.n_cover, self.n_jobs, self.entries = n_cover, n_jobs, 0

    def errors(
        self, k: int, percentiles: tuple[float, ...], costs: tuple[float, ...]
    ) -> pd.DataFrame:
        """Return the error of each setting with this k.

        A third of the neighbourhoods judge all settings, the others the promising ones.
        """
        n_inner = inner_of(k, self.n_cover)
        hoods = self.neighborhoods_of(n_judges(self.n, k, self.n_cover), k)
        n_first = min(len(hoods), max(FIRST, len(hoods) // 3))
        first = self._errors(hoods[:n_first], percentiles, costs, n_inner)
        total, counts = first.sum(axis=0), np.full(first.shape[1:], n_first)
        if n_first < len(hoods):
            wanted = promising(first)
            others = self._errors(hoods[n_first:], percentiles, costs, n_inner, wanted)
            total, counts = total + others.sum(axis=0), counts + wanted * len(others)
        return _table(k, total / counts, percentiles, costs, counts * n_inner)

    def _errors(
        self, hoods: list[Neighborhood], percentiles: tuple[float, ...], costs: tuple[float, ...],
        n_inner: int, wanted: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.float64]:  # fmt: skip
        """Return the errors in each neighbourhood, (neighbourhoods, percentiles, costs)."""
        results = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(neighborhood_errors)(hood, self.kernel, percentiles, costs, n_inner, wanted)
            for hood in hoods
        )
        self.entries += sum(entries for _, entries in results)
        return np.array([errors for errors, _ in results])


def choose_parameters(grid: Grid, sizes: list[int]) -> pd.DataFrame:
    """Cross-validate k, C and percentile; returns the errors, least k and C first.

    Columns: `n_neighbors, C, percentile, error` and `held_out`, the points an error rests on.

    Parameters
    ----------
    grid : Grid
    sizes : list of int
        The k to try, rising.
    """
    import pandas as pd

    percentiles = PERCENTILES[::-1] if is_radial(grid.kernel) else (50.0,)
    tables: list[pd.DataFrame] = []
    least, rises = np.inf, 0
    for k in sizes:
        tables.append(grid.errors(k, percentiles, COSTS))
        lowest = float(tables[-1]["error"].min())
        report(0.0, f"k = {k}: error {lowest:.3f}")
        rises = rises + 1 if lowest > least else 0
        least = min(least, lowest)
        if rises == 2 or grid.entries > BUDGET:
            break
    return _beyond(pd.concat(tables, ignore_index=True), grid)


def promising(errors: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which settings may yet turn out the best, of errors (neighbourhoods, ...) so far.

    Those whose errors are not over the least ones by two standard errors of the difference.
    """
    flat = errors.reshape(len(errors), -1)
    over = flat - flat[:, [flat.mean(axis=0).argmin()]]
    spread = over.std(axis=0, ddof=1) / np.sqrt(len(flat)) if len(flat) > 1 else np.inf
    return (over.mean(axis=0) <= 2.0 * spread).reshape(errors.shape[1:])


def _beyond(table: pd.DataFrame, grid: Grid) -> pd.DataFrame:
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
            more = grid.errors(int(best["n_neighbors"]), (point["percentile"],), (point["C"],))
            table = pd.concat([table, more], ignore_index=True)
            if more["error"].min() >= best["error"]:
                break
    return table


def _further(name: str, tried: pd.Series, best: float) -> float | None:
    """Return the next value past the end that `best` stands at; None in the middle."""
    if tried.nunique() == 1:
        return None
    if name == "C":
        return best * 4.0 if best == tried.max() else best / 4.0 if best == tried.min() else None
    return best / 10.0 if best == tried.min() else 100.0 if tried.max() == best < 100.0 else None


def neighborhood_errors(
    hood: Neighborhood, kernel: Any, percentiles: tuple[float, ...], costs: tuple[float, ...],
    n_inner: int, wanted: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.float64], int]:  # fmt: skip
    """Return the k'-internal error of one neighbourhood, (percentiles, costs), and the work.

    Costs rise. Those that are not `wanted` with a percentile have an error of 0.
    """
    if wanted is None:
        wanted = np.ones((len(percentiles), len(costs)), dtype=np.bool_)
    wrong = np.zeros((len(percentiles), len(costs)), dtype=np.int64)
    rows, labels = hood
    steps, members = most_steps(len(rows)), np.arange(len(rows), dtype=np.int32)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) == 1:  # nothing to tell apart
        return wrong / n_inner, 0
    codes = codes.astype(np.int32)
    if is_radial(kernel):
        wide = rows.astype(np.float64, copy=False)  # the loop is compiled for one type of rows
        entries = errors_radial(
            wide, codes, len(classes), members, np.array(percentiles), np.array(costs), wanted,
            N_FOLDS, n_inner, TOLERANCE, steps, wrong,
        )  # fmt: skip
        return wrong / n_inner, entries
    plain = kernel.plain if is_known(kernel) else kernel
    K, diagonal = padded_kernel(plain, centred(plain, rows)[0])
    entries = errors_given(
        members, codes, len(classes), K, diagonal, np.array(costs), wanted[0], N_FOLDS, n_inner,
        TOLERANCE, steps, wrong[0],
    )  # fmt: skip
    return wrong / n_inner, entries


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
        delayed(neighborhood_errors)(hood, kernel, percentiles, COSTS, n_inner)
        for hood in neighborhoods(rows, labels, neighbors)
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
