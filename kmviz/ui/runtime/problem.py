"""The problem that the choices describe: loaded and trained once, from then on cached."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NoReturn

import streamlit as st

from kmviz.datasets import DataError, Dataset
from kmviz.ui.runtime.jobs import Cache, Private, is_inside
from kmviz.ui.shell import url
from kmviz.views import openings, prepare
from kmviz.views.controls import SHARED
from kmviz.views.problem import Problem, train
from kmviz.views.yours import MODEL, ROWS, Yours, read

_loaded, _trained = Cache("data"), Cache("problem")
_REMEDY = "Choose a smaller gamma, degree or C on the left, or fewer rows."


def load_chosen(choices: Mapping[str, Any] = url.PRESENT) -> Dataset:
    """Return the data set that the choices name, all of it."""
    if choices["data"] == "upload":
        return st.session_state[url.UPLOAD].data
    if choices["data"] == "yours":
        return your_model().data
    key = *(choices[name] for name in ("data", "noise", "seed", "n")), _drawing(choices)
    return _loaded.get(key, lambda: prepare.load(*key), "Loading the data")


@cache
def your_model() -> Yours:
    """Return the model that the app was started with, read once."""
    return read(os.environ[MODEL], os.environ.get(ROWS))


def _drawing(choices: Mapping[str, Any]) -> str:
    """Return the drawing that the data is made of, if it is: a visitor's own."""
    return Private(choices["drawn"]) if choices["data"] == "sketch" else ""


def current(data: Dataset, at_the_end: Callable[[], None]) -> Problem:
    """Return the problem that the session describes, trained or from the cache.

    An SVM that cannot be trained ends the page, after `at_the_end` was called.
    """
    try:
        problem = trained(data)
    except ValueError as error:
        at_the_end()
        text = prepare.literal(str(error))
        if not isinstance(error, DataError):
            text = f"This machine cannot be trained: {text} {_REMEDY}"
        stop(text)
    if problem.is_unfinished:
        st.warning(
            f"Training was stopped after {problem.svc.max_iter:,} steps without settling. "
            f"{_REMEDY}",
            icon=":material/warning:",
        )
    return problem


def stop(text: str) -> NoReturn:
    """End the page with what is wrong; in a job, end the job."""
    if is_inside():
        raise ValueError(text)
    st.error(text, icon=":material/error:")
    url.end()
    st.stop()


def trained(data: Dataset, choices: Mapping[str, Any] = url.PRESENT) -> Problem:
    """Return the problem with the SVM and the query that the choices say.

    Parameters
    ----------
    data : all rows of the data set that they name
    choices : by URL parameter; default: the visitor's
    """
    upload = st.session_state[url.UPLOAD] if choices["data"] == "upload" else None
    values = {name: choices[name] for name in SHARED}
    yours = your_model() if choices["data"] == "yours" else None
    values |= {"C": float(values["C"])} | _unused(values["kernel"])
    if yours is not None:
        values |= dict.fromkeys(openings.MACHINE)
    digest = Private(upload.digest) if upload else _drawing(choices)
    names = ("data", "pair", "n", "noise", "seed", "kernel", "C", "gamma", "degree")
    key = (*(values[name] for name in names), digest)
    problem = _trained.get(key, lambda: train(key, data, values, yours), "Training the machine")
    problem = replace(problem, query=choices["query"], choices=values)
    table = upload or yours
    if table is None:
        return problem
    encoder = replace(table.encoder, classes=list(problem.data.class_names))
    labels = prepare.find_pair(data, problem.pair)
    return replace(problem, encoder=encoder, file=table.file, labels=labels)


def _unused(kernel: str) -> dict[str, None]:
    """Return the parameters that a kernel does not read, as None."""
    read = {"gamma": ("rbf", "poly"), "degree": ("poly", "poly_normalized")}
    return {name: None for name, kernels in read.items() if kernel not in kernels}
