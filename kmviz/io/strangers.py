"""Models that anyone may send: a short list of types, and of what their parameters may ask for.

`load` reads what its caller chose to trust. A server has no such choice: here a file may hold an
SVM and the steps before it, nothing that starts processes, writes folders, trains for minutes or
unfolds to more vectors or columns than a page can serve.

`kmviz.io.trial` has a child process load and ask a model first, as it is. A server asks what was
read from it: the steps of the short list, and a machine made anew of its vectors and weights, so
that no array of the file reaches a compiled loop as it came. Within these limits a page's thousands
of rows take it some seconds, done by the pool that bounds all long work, and some hundred
megabytes.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC

from kmviz.io.bombs import nodes
from kmviz.io.storage import DAMAGED, StorageError, built, refuse_foreign, schema_of
from kmviz.machines import KernelMachine
from kmviz.machines.as_svc import as_svc
from kmviz.machines.unwrap import first_steps, last_step

#: What a stranger's file may unfold to.
MOST_BYTES = 256 * 2**20

#: Columns that a step may make of a row, and powers that it may raise them to.
MOST_COLUMNS, MOST_DEGREE = 10_000, 20

#: Support vectors of a machine, and numbers in all of them: what each row is compared with.
MOST_VECTORS, MOST_NUMBERS = 20_000, 2**24

#: Steps of training where a method trains the machine again, and the cost of an error.
MOST_ITERATIONS, MOST_C = 2_000_000, 1e9

#: Machines, steps before them and what those are made of.
MACHINES = ("SVC", "NuSVC", "LinearSVC")
STEPS = (
    "StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "Normalizer",
    "QuantileTransformer", "PowerTransformer", "PolynomialFeatures", "PCA", "SimpleImputer",
    "KernelEmbedding",
)  # fmt: skip
ALLOWED = frozenset(
    {
        *(f"sklearn.svm._classes.{name}" for name in MACHINES),
        "sklearn.pipeline.Pipeline", "sklearn.frozen._frozen.FrozenEstimator",
        *(f"sklearn.preprocessing._data.{name}" for name in STEPS[:7]),
        "sklearn.preprocessing._polynomial.PolynomialFeatures",
        "sklearn.decomposition._pca.PCA", "sklearn.impute._base.SimpleImputer",
        "kmviz.machines.embedding.KernelEmbedding",
        *(f"kmviz.kernels.{name}" for name in ("Linear", "Polynomial", "RBF", "Normalized")),
        *(f"builtins.{name}" for name in ("dict", "list", "tuple", "str", "int", "float", "bool")),
        *(f"numpy.{name}" for name in ("ndarray", "dtype", "bool", "bool_", "str_")),
        *(f"numpy.{kind}{bits}" for kind in ("int", "float") for bits in (32, 64)),
        "scipy.sparse._csr.csr_matrix", "scipy.sparse._csr.csr_array",
    }
)  # fmt: skip


def load_from_stranger(content: bytes, name: str) -> Any:
    """Load the model in a file that anyone may have made, its machine made anew.

    Raises
    ------
    StorageError
        It is none that is taken; the message says what is.
    """
    return read_anew(checked(content, name))


def read_anew(estimator: Any) -> Any:
    """Return a model that answers as a checked one does, by what was read from its machine.

    It has the same parameters, so that a method may train it again.
    """
    last = last_step(estimator)
    machine, own = KernelMachine.from_estimator(last), clone(last)
    if isinstance(own, LinearSVC):
        own.coef_ = np.array(last.coef_, dtype=np.float64)
        own.intercept_ = np.array(last.intercept_, dtype=np.float64)
        own.classes_, own.n_features_in_ = last.classes_, machine.n_features
    else:
        made = as_svc([machine], last.classes_)
        fitted = vars(made).keys() - made.get_params().keys() - own.get_params().keys()
        vars(own).update({name: vars(made)[name] for name in fitted})
    steps = [(f"step{i}", step) for i, step in enumerate(first_steps(estimator))]
    return Pipeline([*steps, ("machine", own)]) if steps else own


def checked(content: bytes, name: str) -> Any:
    """Load the model in a file that anyone may have made, as it is: not to be asked by a server.

    Raises
    ------
    StorageError
        It is none that is taken; the message says what is. Nothing of the file was built where
        it names other types.
    """
    refuse_foreign(content, name)
    try:
        with ZipFile(io.BytesIO(content)) as archive:
            schema = schema_of(archive, name, MOST_BYTES)
    except (*DAMAGED, RecursionError, ValueError, NotImplementedError) as error:
        if isinstance(error, StorageError):
            raise
        raise StorageError(f"{name} is not a skops file, or it is damaged: {error}.") from error
    if others := sorted({_type_of(node) for node in nodes(schema)} - ALLOWED):
        listed = ", ".join(others[:5]) + (" and others" if len(others) > 5 else "")
        raise StorageError(
            f"{name} holds {listed}, which is not taken here. A model may be "
            f"{', '.join(MACHINES)}, alone or behind {', '.join(STEPS)}: store that part of it. "
            "kmviz.load reads the rest on your own machine."
        )
    estimator = built(content, name, sorted(ALLOWED))
    _refuse_no_machine(estimator, name)
    try:
        for step in [*first_steps(estimator), last_step(estimator)]:
            RULES.get(type(step).__name__, _no_rule)(step)
        _refuse_odd_rows(estimator)
    except (ValueError, TypeError, AttributeError, LookupError, MemoryError) as error:
        raise StorageError(f"{name} is not taken: {error}") from error
    return estimator


def _refuse_no_machine(estimator: Any, name: str) -> None:
    try:
        _refuse_large(last_step(estimator))
        machine = KernelMachine.from_estimator(estimator)
        width, n_classes = int(estimator.n_features_in_), len(estimator.classes_)
    except Exception as error:
        raise StorageError(
            f"{name} holds a {type(estimator).__name__}, which is not a trained kernel machine "
            f"for two classes: {error}"
        ) from error
    if n_classes != 2:
        raise StorageError(f"{name} knows {n_classes} classes; a machine for two is wanted.")
    if not np.isfinite(machine.beta).all():
        raise StorageError(f"{name} has weights that are no numbers. Train and store it again.")
    if not 0 < width <= MOST_COLUMNS:
        raise StorageError(f"{name} takes {width:,} columns; at most {MOST_COLUMNS:,} are served.")


def _refuse_large(machine: Any) -> None:
    """Look at sizes before anything is computed from them."""
    m, width = len(getattr(machine, "support_", ())), int(machine.n_features_in_)
    if m > MOST_VECTORS or m * width > MOST_NUMBERS:
        raise ValueError(
            f"it has {m:,} support vectors of {width:,} columns; at most {MOST_VECTORS:,}, and "
            f"{MOST_NUMBERS:,} numbers in all, are served here."
        )


def _type_of(node: dict[str, Any]) -> str:
    return f"{node.get('__module__')}.{node.get('__class__')}"


def _no_rule(step: Any) -> None:
    """Most steps have no parameter that could ask for much."""


def _bound_machine(machine: Any) -> None:
    """A method may train a machine anew; then it ends."""
    _refuse_above("C", getattr(machine, "C", 1.0), MOST_C)
    if hasattr(machine, "max_iter") and not 0 < machine.max_iter <= MOST_ITERATIONS:
        machine.max_iter = MOST_ITERATIONS
    if hasattr(machine, "cache_size"):
        machine.cache_size = min(machine.cache_size, 200)
    machine.verbose = False


def _bound_polynomial(step: Any) -> None:
    degree = step.degree if isinstance(step.degree, tuple | list) else (0, step.degree)
    for value in (*degree, vars(step)["_max_degree"]):
        _refuse_above("degree of PolynomialFeatures", value, MOST_DEGREE)
    for name in ("n_output_features_", "_n_out_full"):
        _refuse_above(f"{name} of PolynomialFeatures", vars(step)[name], MOST_COLUMNS)


def _refuse_above(name: str, value: Any, most: float) -> None:
    if not 0 <= float(value) <= most:
        raise ValueError(f"{name} is {value!r}; at most {most:,.0f} is taken.")


RULES: dict[str, Callable[[Any], None]] = {
    **dict.fromkeys(MACHINES, _bound_machine),
    "PolynomialFeatures": _bound_polynomial,
}


def _refuse_odd_rows(estimator: Any) -> None:
    """Send two rows through the steps: what comes out must be what the machine takes."""
    rows: NDArray[Any] = np.zeros((2, int(estimator.n_features_in_)))
    with np.errstate(all="ignore"):
        for step in first_steps(estimator):
            rows = np.asarray(step.transform(rows))
            if rows.ndim != 2 or rows.shape[1] > MOST_COLUMNS or not np.isfinite(rows).all():
                raise ValueError(
                    f"{type(step).__name__} makes no finite numbers of a row of zeros."
                )
    machine = last_step(estimator)
    if rows.shape[1] != int(machine.n_features_in_):
        raise ValueError(
            f"its steps make {rows.shape[1]} columns, its machine takes {machine.n_features_in_}."
        )
