"""Set-up compiles all that a method asks for: no query waits for a compiler."""

from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context

import numpy as np
from numba.core.dispatcher import Dispatcher
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from kmviz import loops
from kmviz.methods.register import METHODS

X, Y = make_moons(120, noise=0.2, random_state=0)


def read_only(rows):
    rows = rows.copy(order="K")
    rows.flags.writeable = False
    return rows


#: As users have them: what comes of a frame, or from disk, may be read-only.
KINDS = {
    "float64": X,
    "float32": X.astype(np.float32),
    "read-only": read_only(X),
    "read-only float32": read_only(X.astype(np.float32)),
}


def compiled_for() -> dict[str, set]:
    """For which types each loop has been asked in this process."""
    known = {}
    for name in loops.modules():
        module = import_module(f"kmviz.loops.{name}")
        for loop in vars(module).values():
            if isinstance(loop, Dispatcher) and loop.py_func.__module__ == module.__name__:
                known[f"{name}.{loop.py_func.__name__}"] = set(loop.signatures)
    return known


def asked(method, rows, kernel) -> None:
    """Ask a method for all that it answers."""
    clf, given = method.cls(), {}
    params = clf.get_params(deep=False)
    if "n_neighbors" in params:
        given["n_neighbors"] = 20
    if "estimator" in params:
        given["estimator"] = SVC(kernel=kernel)
    elif method.name not in ("cpsp", "core_vector"):  # which know radial kernels alone
        given["kernel"] = kernel
    clf.set_params(**given).fit(rows, Y)
    for some in (rows, rows[:1]):
        clf.decision_function(some)
        clf.predict(some)
    clf.steps(rows)
    clf.study(rows[:50]).read()
    clf.trace(rows[0])


def not_set_up() -> list[str]:
    """What methods ask for that set-up has not compiled."""
    for name in loops.modules():
        loops.warm(name)
    found, before = [], compiled_for()
    for method in METHODS:
        for kind, rows in KINDS.items():
            for kernel in ("rbf", "poly"):
                asked(method, rows, kernel)
                after = compiled_for()
                new = [name for name in after if after[name] - before[name]]
                found += [f"{method.name}, {kind}, {kernel}: {name}" for name in new]
                before = after
    return found


def test_no_query_waits_for_a_compiler():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        assert fresh.submit(not_set_up).result() == []
