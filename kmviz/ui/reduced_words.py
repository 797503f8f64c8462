"""What the Reduced set page says: figures in a row, and what to look for."""

from __future__ import annotations

import numpy as np

from kmviz.ui.reduced import Page
from kmviz.views.problem import Problem


def metrics(page: Page, n: int) -> list[tuple[str, str, str]]:
    """The page's metrics."""
    base, at, reading = page.base, page.curves.loc[n], page.reading(n)
    return [
        ("Vectors", f"{n}", f"Of {base.n_vectors:,} that the machine has."),
        ("Vectors m", f"{base.n_vectors:,}", "Support vectors of the machine."),
        ("Fewer by", f"{base.n_vectors / n:.0f}x", "Kernel values saved on every query."),
        ("ρ", f"{at['rho']:.3f}",
         "Distance left to the machine's own vector Ψ, as a share of Ψ's length: 1 with no "
         "vectors, 0 where nothing is lost."),
        ("Test error", f"{at['error']:.2f}%", "With the machine's own threshold."),
        ("With Bayes threshold", f"{at['bayes_error']:.2f}%",
         "Test error with the threshold b that errs least on the training rows, in place of the "
         "machine's own."),
        ("Changed answers", f"{reading.disagreements:,} of {len(reading.steps):,}",
         "Test rows that the machine answers otherwise."),
    ]  # fmt: skip


def look_at_vectors(problem: Problem, page: Page, n: int) -> str:
    """Say what to notice about the vectors."""
    many = f"{page.base.n_vectors:,}"
    if problem.image_shape:
        return (
            "These are no digits of the data: they are made up, and may have negative ink. Strokes "
            f"that speak for one class stand against those of the other; {n} such pictures replace "
            f"{many} support vectors."
        )
    return (
        f"The {n} reduced vectors (large marks) need not lie near the boundary, nor be training "
        f"rows: together they weigh as the {many} support vectors (small marks) do. Where "
        "two of opposite sign share nearly one spot, they stand for a slope there."
    )


def look_at_error(page: Page) -> str:
    """Say where the error settles."""
    curves, machine = page.curves, page.before["error %"].iloc[-1]
    good = np.flatnonzero(curves["error"] <= machine + 0.25)
    if len(good) == 0:
        return (
            "ρ falls with every vector, but the error has not yet reached the machine's own: "
            "this boundary takes more vectors."
        )
    n = int(curves.index[good[0]])
    is_better = curves["error"][n] <= machine
    how = "to err no more often" if is_better else "to come within a quarter of a point"
    who, they = ("vectors are", "they err") if n > 1 else ("vector is", "it errs")
    return (
        f"{n} {who} enough {how}: {they} on {curves['error'][n]:.1f}% of the test rows, the "
        f"machine on {machine:.1f}%, while a share of ρ = {curves['rho'][n]:.2f} of it is still "
        "missing: a right sign needs much less than the right value."
    )


def tuning(page: Page, n: int) -> str:
    """Say at which sizes the fine-tuning was kept; nothing where none was asked for."""
    study = page.shown.study
    if study.fitted.tune is None:
        return ""
    kept = [size for size in page.curves.index if study.classifier(n_vectors=int(size)).tuned_]
    return (
        f" Fine-tuning was kept at {len(kept)} of {len(page.curves)} sizes, where fewer of the "
        f"training rows that did not tune change sides; with {n} it was "
        f"{'kept' if n in kept else 'not'}. A tuned set lies further away (ρ) and answers more "
        "queries alike: distance is not what it minimises."
    )


def look_at_boundary(page: Page, n: int) -> str:
    """Say how many answers change."""
    reading = page.reading(n)
    return (
        f"{reading.disagreements} of {len(reading.agrees):,} test queries change their class with "
        f"{n} {'vectors' if n > 1 else 'vector'}."
    )
