"""What fitting and studying a method would take, estimated before it starts; too much is refused.

An estimate counts the largest arrays and the longest loops. It is right within a factor of a few,
which is enough to keep a job of gigabytes or minutes from a server that others use.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmviz.methods.register import method
from kmviz.views.problem import Problem

#: What one job may take.
MOST_BYTES, MOST_SECONDS = 2**30, 120.0
#: Multiplications in a second, of one core.
RATE = 1.5e9


@dataclass(frozen=True)
class Estimate:
    """Bytes and seconds that a job would take."""

    n_bytes: float
    seconds: float

    @property
    def is_too_large(self) -> bool:
        """Return True if it is refused."""
        return self.n_bytes > MOST_BYTES or self.seconds > MOST_SECONDS

    def __str__(self) -> str:
        size = self.n_bytes / 2**20
        amount = f"{size / 1024:.1f} GB" if size >= 1024 else f"{size:.0f} MB"
        return f"about {amount} of memory and {max(1, round(self.seconds)):,} seconds"


def estimate(problem: Problem, name: str, n_queries: int) -> Estimate:
    """Return what fitting a method and studying so many queries would take.

    Parameters
    ----------
    name : the method's name in the register
    """
    (n, d), m = problem.data.X_train.shape, problem.n_vectors
    kernel = m * d * (n + n_queries)
    numbers, work = {
        # The sums of all queries after each vector; the folds that calibrate.
        "nsv": (n_queries * (m + 1), kernel + 10 * RATE * problem.fit_seconds),
        # The basis in itself, and the coordinates of all queries in it.
        "anytime": (m * m + 2 * n_queries * m, kernel + m**3 / 3 + n_queries * m * m / 2),
        # The kernel matrix of the vectors that are reduced.
        "reduced": (m * m, kernel + m * m * d),
        # The contribution of each vector to each training row.
        "svtree": (n * m, kernel + n * m * 64),
    }.get(name, (n * d, kernel))
    return Estimate(8.0 * numbers, work / RATE)


def refusal(problem: Problem, name: str, needed: Estimate) -> str:
    """Return why a job is refused, and what to do."""
    most = Estimate(MOST_BYTES, MOST_SECONDS)
    return (
        f"{method(name).title} for {problem.n_vectors:,} support vectors of "
        f"{problem.data.X_train.shape[1]:,} columns would take {needed}; one page may take {most}. "
        "Choose fewer training rows, or a larger C or smaller gamma, which keep fewer vectors."
    )
