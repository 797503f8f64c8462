"""What the Reduced set page reads: the virtual machine, the path of sizes, errors and times."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from kmviz.evaluation.cost import cpu_seconds, one_thread
from kmviz.figures import reduced as figures
from kmviz.machines import KernelMachine
from kmviz.methods import progress
from kmviz.methods.reduced import ReducedSetClassifier
from kmviz.methods.reduced.engine import ReducedEngine
from kmviz.methods.reduced.path import Path, grow
from kmviz.methods.reduced.space import space_of
from kmviz.methods.reduced.threshold import bayes_threshold, errors_at
from kmviz.methods.transforms import shifts
from kmviz.methods.virtual import VirtualSVClassifier
from kmviz.ui import parts, state
from kmviz.ui.params import Choice, Number
from kmviz.ui.plane import axes_of, grid, plane
from kmviz.ui.problem import Problem

METHODS = {
    "joint": "joint: one by one, then all",
    "incremental": "incremental: one at a time",
    "fixed_point": "fixed point (RBF): Schölkopf's iteration",
    "selection": "selection: support vectors as they are",
}
OWN = {"vectors": Number(10, 1, 48), "method": Choice(*METHODS), "shift": Number(1, 0, 3)}

#: All vectors are moved together at these sizes, for at most so many steps each; fewer where
#: the support vectors have more numbers than LARGE.
SIZES = (1, 2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48)
STEPS, STEPS_OF_LARGE, LARGE = 80, 40, 200_000
TIMED_ROWS, KEPT = 500, 6
_STOPPED = "kmviz.reduced_stopped"
_lock = Lock()


@dataclass(frozen=True, eq=False)
class Reading:
    """A path, what it reduces, and how it fares on the test rows.

    `exact` is f of the machine that is reduced, `outputs` that of each size (a row a size);
    `before` holds name, vectors, errors and seconds of the machines that come before the
    reduced one, `seconds` those of each size (measured at some, linear in between).
    """

    base: KernelMachine
    virtual: VirtualSVClassifier | None
    path: Path
    bayes: NDArray[np.float64]
    curves: figures.Curves
    exact: NDArray[np.float64]
    outputs: NDArray[np.float32]
    before: tuple[tuple[str, int, int, float], ...]
    seconds: NDArray[np.float64]

    def machine(self, n: int) -> KernelMachine:
        """Return the reduced machine of n vectors."""
        return self.path.machine(n)


def choices(problem: Problem) -> list[str]:
    """The ways that this kernel allows; corrects a choice that it does not."""
    is_radial = st.session_state["kernel"] == "rbf"
    names = [name for name in METHODS if is_radial or name != "fixed_point"]
    if st.session_state["method"] not in names:
        state.replace("method", names[0])
    return names


def read(problem: Problem, method: str, shift: int) -> Reading:
    """Return the reading, from the cache where it is there; ends the page if there is none."""
    shift = shift if problem.image_shape else 0
    key = (problem.key, method, shift)
    with _lock:
        kept = _kept().setdefault(key, {})
        _kept().move_to_end(key)
        while len(_kept()) > KEPT:
            _kept().popitem(last=False)
    if "reading" not in kept and st.session_state.get(_STOPPED) != key:
        _work(problem, method, shift, kept, key)
    if "reading" not in kept and "path" in kept:  # stopped: what there was by then
        if "short" not in kept:
            kept["short"] = _reading(problem, kept["virtual"], kept["path"])
        st.caption(f"Stopped at {kept['short'].path.n_vectors} vectors.")
        return kept["short"]
    if "reading" not in kept:
        st.info("Stopped before a single vector was found. Choose another way, or reload.")
        state.settle()
        st.stop()
    return kept["reading"]


@st.cache_resource(max_entries=1, show_spinner=False)
def _kept() -> OrderedDict:
    """Key -> path and reading, for all sessions of this process."""
    return OrderedDict()


def _work(problem: Problem, method: str, shift: int, kept: dict[str, Any], key: tuple) -> None:
    """Train and grow behind a progress bar with a way to stop."""
    place = st.empty()
    with place.container():
        bar = st.progress(0.0, "Looking for few vectors that say the same …")
        st.button("Stop here", on_click=_stop, args=(key,), icon=":material/stop_circle:")

    def keep(path: Path) -> bool:
        kept["path"] = path
        return False

    said = 0.0

    def show(share: float, text: str) -> None:
        nonlocal said
        if time.monotonic() - said > 0.1:  # the browser need not hear of every step
            said = time.monotonic()
            bar.progress(share, text)

    with progress.listening(show):
        with progress.part(0.0, 0.3):
            kept["virtual"] = virtual = _virtual(problem, shift) if shift else None
        base = virtual.machine_ if virtual else problem.machine
        sizes = [n for n in SIZES if n < base.n_vectors] or [1]
        with progress.part(0.3, 1.0):
            space = space_of(base.kernel, base.vectors)
            steps = min(STEPS, STEPS_OF_LARGE if base.vectors.size > LARGE else STEPS)
            path = grow(base, space, sizes, method, keep, max_iter=steps)
        kept["reading"] = _reading(problem, virtual, path)
    place.empty()


def _stop(key: tuple) -> None:
    st.session_state[_STOPPED] = key


def _virtual(problem: Problem, shift: int) -> VirtualSVClassifier:
    """Train on shifted support vectors; the machine of the support vectors alone is the same."""
    machine = problem.machine
    clf = VirtualSVClassifier(
        SVC(kernel=machine.kernel, C=problem.svc.C), image_shape=problem.image_shape, shift=shift
    )
    return clf.fit(machine.vectors, np.where(machine.beta > 0, 1, -1))


def _reading(problem: Problem, virtual: VirtualSVClassifier | None, path: Path) -> Reading:
    data, base, last = problem.data, path.original, path.n_vectors
    positive, is_test = data.y_train > 0, data.y_test > 0
    train = dict(path.outputs(data.X_train))
    bayes, wrong = np.full(last + 1, base.bias), np.full((2, last + 1), np.nan)
    outputs = np.zeros((last + 1, len(is_test)), dtype=np.float32)
    for n, sums in path.outputs(data.X_test):
        outputs[n] = sums - base.bias
        bayes[n] = bayes_threshold(train[n], positive, base.bias)
        wrong[:, n] = [errors_at(sums, is_test, bias) for bias in (base.bias, bayes[n])]
    machines = {"ORIG: the machine": problem.machine}
    if virtual is not None:
        machines["VSV: trained on virtual support vectors"] = base
    before = [_measured(problem, name, machine) for name, machine in machines.items()]
    timed = sorted({1, max(1, last // 2), last})
    seconds = [_measured(problem, "", path.machine(n))[-1] for n in timed]
    percent = 100.0 / len(is_test)
    return Reading(
        base=base,
        virtual=virtual,
        path=path,
        bayes=bayes,
        curves=figures.Curves(
            path.rho, percent * wrong[0], percent * wrong[1], percent * before[-1][2]
        ),
        exact=base.decision_function(data.X_test),
        outputs=outputs,
        before=tuple(before),
        seconds=np.interp(np.arange(last + 1), timed, seconds),
    )


def _measured(problem: Problem, name: str, machine: KernelMachine) -> tuple[str, int, int, float]:
    """Return name, vectors, test errors and CPU seconds of one machine, in float32."""
    data = problem.data
    wrong = np.sum((machine.decision_function(data.X_test) > 0) != (data.y_test > 0))
    rows = np.arange(TIMED_ROWS) % len(data.X_test)  # a handful times the call, not the vectors
    queries = np.asarray(data.X_test[rows], dtype=np.float32)
    with one_thread():
        seconds = cpu_seconds(lambda: machine.decision_function(queries, np.float32), 3, 0.004)
    return name, machine.n_vectors, int(wrong), seconds


def table(problem: Problem, reading: Reading, n: int) -> pd.DataFrame:
    """Return ORIG, VSV and RS: vectors, errors, times."""
    queries, curves = len(problem.data.y_test), reading.curves
    rows = list(reading.before)
    for name, error in (
        (f"RS: reduced to {n}", curves.error[n]),
        ("RS: with the Bayes threshold", curves.bayes_error[n]),
    ):
        rows.append((name, n, round(error * queries / 100.0), reading.seconds[n]))
    frame = pd.DataFrame(rows, columns=["machine", "vectors", "errors", "seconds"])
    frame["error %"] = 100.0 * frame["errors"] / queries
    frame["times faster"] = frame["seconds"].iloc[0] / frame.pop("seconds")
    return frame.round({"error %": 2, "times faster": 1})


def vectors_figure(problem: Problem, reading: Reading, n: int) -> Any:
    """Draw the vectors: images as images, everything else as points."""
    machine = reading.machine(n)
    if problem.image_shape:
        images = machine.vectors.reshape(n, *problem.image_shape)
        return figures.reduced_images(images, machine.beta)
    return figures.reduced_map(
        plane(problem), _on_plane(problem, machine.vectors), machine.beta, problem.query
    )


def boundary_figure(problem: Problem, reading: Reading, n: int) -> Any:
    """Draw both decision functions: side by side in the plane, else query by query."""
    if not problem.is_plane:
        names = plane(problem).class_names
        return figures.two_outputs(
            reading.exact, reading.outputs[n], problem.data.y_test, names, problem.query
        )
    x, y, rows = grid(problem)
    values = reading.machine(n).decision_function(rows, dtype=np.float32)
    values = values.reshape(len(y), len(x))
    names = (f"exact: {reading.base.n_vectors} vectors", f"reduced: {n} vectors")
    return figures.two_boundaries(plane(problem), values, names, problem.query)


def strip(problem: Problem, shift: int) -> None:
    """Draw the heaviest support vector and its virtual copies, where there are any."""
    if problem.image_shape and shift:
        picture = _strip(problem.key, shift, problem.image_shape, problem)
        parts.chart(picture, "virtual_strip", "A support vector and its four shifted copies.")


@st.cache_resource(max_entries=16, show_spinner=False)
def _strip(key: tuple, shift: int, shape: tuple[int, int], _problem: Problem) -> Any:
    machine = _problem.machine
    row = machine.vectors[[int(np.argmax(np.abs(machine.beta)))]]
    copies = [row, *(move(row) for move in shifts(shape, shift))]
    captions = ("the support vector", "up", "down", "left", "right")
    return figures.virtual_strip(np.array(copies).reshape(-1, *shape), captions)


def _on_plane(problem: Problem, vectors: NDArray[Any]) -> NDArray[Any]:
    if problem.is_plane:
        return vectors
    centre, directions, _ = axes_of(problem)
    return (vectors - centre) @ directions


def estimator(problem: Problem, reading: Reading, method: str, n: int) -> bytes:
    """Return the reduced classifier that the page shows as a .skops file."""
    clf = ReducedSetClassifier(FrozenEstimator(reading.virtual or problem.estimator), n, method)
    (trained,) = clf._train(problem.data.X_train, None)
    found, original = reading.machine(n), trained.machine
    if reading.virtual is None:  # the machine stands behind the first steps of a pipeline
        vectors = problem.svc_rows(found.vectors)
        found = replace(found, vectors=vectors, kernel=original.kernel)
    rho = float(reading.path.rho[n])
    clf._adopt([ReducedEngine(found, original, rho, reading.path.stage(n))])
    clf.rho_, clf.original_, clf.vectors_ = rho, original, None
    return problem.packed(clf)
