"""The lines of Python that rebuild what a page shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from kmviz import datasets

if TYPE_CHECKING:
    from kmviz.ui.problem import Problem


def of_problem(problem: Problem) -> str:
    """Return the imports and the lines that make `data`, `X`, `y` and `svc`."""
    n = len(problem.data.y_train)
    lines = [
        "from sklearn.svm import SVC",
        "from kmviz import datasets, kernels",
        "",
        f"data = {_loading(problem)}",
        f"X, y = data.X_train[:{n}], data.y_train[:{n}]",
    ]
    if problem.standardised:
        lines.append("X = (X - X.mean(axis=0)) / X.std(axis=0)  # and the test rows likewise")
    return "\n".join([*lines, f"svc = {_training()}.fit(X, y)"]) + "\n"


def _loading(problem: Problem) -> str:
    session, name = st.session_state, problem.data.name
    if session["data"] == "upload":
        return 'datasets.read_table("your_file.csv")'
    known, parts = datasets.options(name), [repr(name)]
    if problem.pair:
        parts.append(f"pair=({problem.pair.replace('-', ', ')})")
    for option in ("n", "noise", "seed"):
        value = session[option]
        asked = value is not None and known.get(option) is not None
        if asked and value != known[option]:
            parts.append(f"{option}={value!r}")
    scaled = ".scaled()" if problem.image_shape else ""
    return f"datasets.load({', '.join(parts)}){scaled}"


def _training() -> str:
    session = st.session_state
    kernel, C = session["kernel"], f"C={session['C']:g}"
    if kernel == "linear":
        return f'SVC(kernel="linear", {C})'
    if kernel == "poly_normalized":
        poly = f"kernels.Polynomial(degree={session['degree']})"
        return f"SVC(kernel=kernels.Normalized({poly}), {C})"
    gamma = f"gamma={session['gamma']!r}"
    if kernel == "rbf":
        return f'SVC(kernel="rbf", {C}, {gamma})'
    return f'SVC(kernel="poly", degree={session["degree"]}, {C}, {gamma}, coef0=1)'
