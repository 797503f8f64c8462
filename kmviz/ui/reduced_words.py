"""What the Reduced set page says: figures in a row, what to look for, the code to take home."""

from __future__ import annotations

import numpy as np

from kmviz.ui.problem import Problem
from kmviz.ui.reduced import Reading

SHIFT = (
    "Images only: copies of the support vectors, shifted in four directions, are trained on "
    "before reducing. 0 reduces the machine as it is."
)


def metrics(reading: Reading, n: int) -> list[tuple[str, str, str]]:
    """The page's metrics."""
    base, curves = reading.base, reading.curves
    return [
        ("Vectors", f"{n}", f"Of {base.n_vectors:,} that the machine has."),
        ("Fewer by", f"{base.n_vectors / n:.0f}x", "Kernel values saved on every query."),
        ("ρ", f"{curves.rho[n]:.3f}", "Distance left to the machine, of 1 with no vectors."),
        ("Test error", f"{curves.error[n]:.2f}%", "With the machine's own threshold."),
        ("Bayes threshold", f"{curves.bayes_error[n]:.2f}%",
         "Test error with the threshold that errs least on the training rows."),
    ]  # fmt: skip


def look_at_vectors(problem: Problem, reading: Reading, n: int) -> str:
    """Say what to notice about the vectors."""
    if problem.image_shape:
        return (
            "No digit looks like these: a reduced vector may have negative ink. Strokes that "
            f"speak for one class stand against those of the other; {n} such pictures replace "
            f"{reading.base.n_vectors:,} support vectors."
        )
    return (
        f"The {n} reduced vectors (large marks) need not lie on the margin, nor be training "
        f"rows. Each stands in for the support vectors around it, {reading.base.n_vectors:,} "
        "rings in all."
    )


def look_at_error(reading: Reading) -> str:
    """Say where the error settles."""
    curves = reading.curves
    good = np.flatnonzero(np.abs(curves.error[1:] - curves.machine_error) <= 0.25) + 1
    if len(good) == 0:
        return (
            "ρ falls with every vector, but the error has not yet reached the machine's own: "
            "this boundary takes more vectors."
        )
    n = int(good[0])
    return (
        f"With {n} vectors the error is within a quarter of a point of the machine's own, while "
        f"ρ is still {curves.rho[n]:.2f}: the sign needs much less than the function. The Bayes "
        "threshold helps most where vectors are few, and not always."
    )


def look_at_boundary(reading: Reading, n: int) -> str:
    """Say how many answers change."""
    differ = int(np.sum((reading.exact > 0) != (reading.outputs[n] > 0)))
    return f"{differ} of {len(reading.exact):,} test queries change their class with {n} vectors."


def code(problem: Problem, method: str, shift: int, n: int) -> str:
    """The lines that rebuild this view."""
    lines = [problem.code, "from kmviz import ReducedSetClassifier, VirtualSVClassifier"]
    inner = "svc"
    if problem.image_shape and shift:
        inner = f"VirtualSVClassifier(svc, image_shape={problem.image_shape}, shift={shift})"
    lines.append("# looks for this number of vectors only, and longer: rho may be a little smaller")
    lines.append(f"clf = ReducedSetClassifier({inner}, n_vectors={n}, method={method!r}).fit(X, y)")
    lines.append("print(clf.rho_, clf.machine_.n_vectors, clf.score(X_test, y_test))")
    return "\n".join(lines) + "\n"
