"""The lines of Python that rebuild what a page shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kmviz import datasets
from kmviz.machines.named import named_svc
from kmviz.views.openings import MACHINE

if TYPE_CHECKING:
    from kmviz.views.problem import Problem
    from kmviz.views.yours import Yours


#: Sets that split rows before they pick two classes: `pair=` gives the rows that the page shows.
SPLIT_FIRST = ("mnist",)


def of_problem(problem: Problem) -> str:
    """Return the imports and the lines that make `data`, `X`, `y`, `X_test`, `y_test`, `svc`."""
    if problem.yours is not None:
        return _of_yours(problem.yours)
    of_pair = problem.pair and problem.data.name not in SPLIT_FIRST
    imports = ["import numpy as np"] if of_pair else []
    if problem.scaler is not None:
        imports.append("from sklearn.preprocessing import StandardScaler")
    imports += ["from sklearn.svm import SVC", "from kmviz import datasets, kernels"]
    lines = [f"data = {_loading(problem)}"]
    if of_pair:
        lines.append(f"pair = {_labels(problem)}  # {problem.data.class_names}")
        lines += [f"{part} = np.isin(data.y_{part}, pair)" for part in ("train", "test")]
    for name, part in (("", "train"), ("_test", "test")):
        rows = f"[{part}]" if of_pair else ""
        rows += f"[:{len(getattr(problem.data, f'y_{part}'))}]"
        lines.append(f"X{name}, y{name} = data.X_{part}{rows}, data.y_{part}{rows}")
    if problem.scaler is not None:
        lines.append("scaler = StandardScaler().fit(X)")
        lines.append("X, X_test = scaler.transform(X), scaler.transform(X_test)")
    lines.append(f"svc = {_training(problem)}.fit(X, y)")
    return "\n".join([*imports, "", *lines, ""])


def _of_yours(yours: Yours) -> str:
    """Return the lines that load a model and its rows; of several classes, all."""
    lines = [
        "import kmviz",
        "from kmviz import datasets",
        "",
        f"data = datasets.read_table({yours.file!r}, target={yours.encoder.target!r})",
        "X, y, X_test, y_test = data.X_train, data.y_train, data.X_test, data.y_test",
        f"svc = kmviz.load({yours.model_file!r})",
        "",
    ]
    return "\n".join(lines)


def _labels(problem: Problem) -> tuple[int, ...]:
    """The two classes as `data.y_train` holds them."""
    if problem.encoder is not None:
        return problem.labels
    return tuple(map(int, problem.pair.split("-")))


def _loading(problem: Problem) -> str:
    name = problem.data.name
    if problem.encoder is not None:
        return f"datasets.read_table({problem.file!r}, target={problem.encoder.target!r})"
    known, parts = datasets.options(name), [repr(name)]
    if problem.pair and name in SPLIT_FIRST:
        parts.append(f"pair=({problem.pair.replace('-', ', ')})")
    for option in ("drawn", "n", "noise", "seed"):
        value = problem.choices[option]
        asked = value is not None and known.get(option) is not None
        if asked and value != known[option]:
            parts.append(f"{option}={value!r}")
    scaled = ".scaled()" if problem.image_shape else ""
    return f"datasets.load({', '.join(parts)}){scaled}"


def _training(problem: Problem) -> str:
    kernel, C, gamma, degree = (problem.choices[name] for name in MACHINE)
    svc = named_svc(kernel, C, gamma or "scale", degree or 3)
    if problem.is_unfinished:
        svc.set_params(max_iter=problem.svc.max_iter)
    written = " ".join(repr(svc).split())
    return re.sub(r"\b(Normalized|Polynomial)\(", r"kernels.\1(", written)
