"""The problem that every page looks at: a data set and the machine trained on it, cached."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kmviz.datasets import DataError, Dataset, TableEncoder
from kmviz.io.storage import readable_bytes
from kmviz.io.table import TableClassifier
from kmviz.machines import KernelEmbedding, KernelMachine
from kmviz.machines.named import named_svc, string_kernel
from kmviz.ui import code, prepare, state
from kmviz.ui.work import Private, Shelf

#: Steps of training: enough for any machine that settles, some seconds for one that does not.
MOST_ITERATIONS = 2_000_000
#: As many steps as these seconds allow, at so many nanoseconds a row; more where the kernel's rows
#: do not fit libsvm's cache and are computed again and again, and then more for each feature.
MOST_SECONDS, CACHE_BYTES, CACHED, NANOSECONDS, A_FEATURE = 6.0, 200 * 2**20, 3.0, 10.0, 0.1
#: Rows times steps of a training that is not done ten times over.
LONG = 1.5e8
_loaded, _trained = Shelf(), Shelf("machine")
_REMEDY = "Choose a smaller gamma, degree or C on the left, or fewer rows."


@dataclass(frozen=True, eq=False)
class Problem:
    """Two classes, a trained machine, and the query that the visitor follows.

    Attributes
    ----------
    key : tuple
        Stands for data and machine: equal keys, equal problems. Use it as a cache key.
    data : Dataset
        Two classes with labels -1 and +1; `class_names` names them in this order.
    svc : SVC
        The fitted machine, and what to time against. It takes `svc_rows(X)`.
    machine : KernelMachine
        The same as a kernel machine; takes rows of `data`.
    estimator : SVC or Pipeline
        The same as an estimator that takes rows of `data` (`FrozenEstimator(problem.estimator)`).
    exact : array of shape (n_test,)
        f of every test row.
    scaler : StandardScaler or None
        What the rows of `data` went through, if their scales differed widely.
    query : int
        The selected row of `data.X_test`.
    encoder : TableEncoder or None
        How the visitor's own table became numbers, with the two classes at hand.
    """

    key: tuple
    data: Dataset
    svc: SVC
    machine: KernelMachine
    estimator: Any
    exact: NDArray[np.float64]
    train_error: float
    test_error: float
    at_bound: float
    fit_seconds: float
    notes: tuple[str, ...]
    scaler: StandardScaler | None
    pair: str
    query: int = 0
    encoder: TableEncoder | None = None

    @property
    def x(self) -> NDArray[Any]:
        """The query's row."""
        return self.data.X_test[self.query]

    @property
    def label(self) -> int:
        """The query's true label, -1 or +1."""
        return int(self.data.y_test[self.query])

    @property
    def n_vectors(self) -> int:
        """m, the kernel values that an exact answer takes."""
        return self.machine.n_vectors

    @property
    def is_long(self) -> bool:
        """Whether training took so many steps that a page does not train many such machines."""
        return len(self.data.X_train) * int(self.svc.n_iter_.max()) > LONG

    @property
    def is_unfinished(self) -> bool:
        """Whether training was stopped before it had settled."""
        return int(self.svc.n_iter_.max()) >= self.svc.max_iter

    @property
    def names(self) -> tuple[str, str]:
        """The names of the classes -1 and +1, for a text in Markdown."""
        low, high = map(prepare.literal, self.data.class_names)
        return low, high

    @property
    def is_plane(self) -> bool:
        """Whether the data is two-dimensional and can be drawn as it is."""
        return self.data.X_train.shape[1] == 2

    @property
    def image_shape(self) -> tuple[int, int] | None:
        """Height and width, if a row is an image."""
        return self.data.image_shape

    @property
    def code(self) -> str:
        """The lines of Python that make `data` and `svc` again."""
        return code.of_problem(self)

    def packed(self, classifier: Any) -> bytes:
        """Return a classifier as a .skops file that takes rows as they came.

        What was done to them goes into the file: a table's encoding, a change of scale.
        """
        if self.scaler is not None:
            classifier = Pipeline([("scale", self.scaler), ("classify", classifier)])
        if self.encoder is not None:
            classifier = TableClassifier(self.encoder, classifier)
        return readable_bytes(classifier)

    def data_rows(self, vectors: NDArray[Any]) -> NDArray[Any]:
        """Return vectors as `svc` takes them as rows of `data`."""
        if not isinstance(self.estimator, Pipeline):
            return vectors
        return self.estimator[:-1].inverse_transform(vectors)

    def svc_rows(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return rows of `data` as `svc` takes them."""
        return self.estimator[:-1].transform(X) if isinstance(self.estimator, Pipeline) else X


def load_chosen(said: Mapping[str, Any] = state.PRESENT) -> Dataset:
    """Return the data set that the choices name, all of it."""
    if said["data"] == "upload":
        return st.session_state[state.UPLOAD].data
    chosen = said["data"], said["noise"], said["seed"], said["n"], _drawing(said)
    return _loaded.get(chosen, lambda: prepare.load(*chosen), "Loading the data")


def _drawing(said: Mapping[str, Any]) -> str:
    """The drawing that the data is made of, if it is: a visitor's own."""
    return Private(said["drawn"]) if said["data"] == "sketch" else ""


def current(data: Dataset, at_the_end: Callable[[], None]) -> Problem:
    """Return the problem that the session describes, trained or from the cache.

    A machine that cannot be trained ends the page, after `at_the_end` was called.
    """
    try:
        problem = trained(data)
    except ValueError as error:
        at_the_end()
        said = prepare.literal(str(error))
        if not isinstance(error, DataError):
            said = f"This machine cannot be trained: {said} {_REMEDY}"
        st.error(said, icon=":material/error:")
        state.settle()
        st.stop()
    if problem.is_unfinished:
        st.warning(
            f"Training was stopped after {problem.svc.max_iter:,} steps without settling. "
            f"{_REMEDY}",
            icon=":material/warning:",
        )
    return problem


def trained(data: Dataset, said: Mapping[str, Any] = state.PRESENT) -> Problem:
    """Return the problem with the machine and the query that the choices say.

    Parameters
    ----------
    data : all rows of the data set that they name
    said : the choices, by URL parameter; default: the visitor's
    """
    name, kernel = said["data"], said["kernel"]
    machine_key: tuple[Any, Any, Any, Any] = (
        kernel,
        float(said["C"]),
        said["gamma"] if kernel in ("rbf", "poly") else None,
        said["degree"] if kernel in ("poly", "poly_normalized") else None,
    )
    upload = st.session_state[state.UPLOAD] if name == "upload" else None
    digest = Private(upload.digest) if upload else _drawing(said)
    rows = (said["pair"], said["n"])
    key = (name, digest, *rows, said["noise"], said["seed"], *machine_key)
    problem = _trained.get(
        key, lambda: _train(key, data, *rows, *machine_key), "Training the machine"
    )
    encoder = upload.encoder if upload else None
    if encoder is not None:
        encoder = replace(encoder, classes=list(problem.data.class_names))
    return replace(problem, query=said["query"], encoder=encoder)


def _train(
    key: tuple,
    whole: Dataset,
    pair: str,
    n: int | None,
    kernel: str,
    C: float,
    gamma: float | str | None,
    degree: int | None,
) -> Problem:
    made = prepare.prepare(whole, pair, n)
    data = made.data
    start = time.perf_counter()
    svc, machine, estimator = fit(data.X_train, data.y_train, kernel, C, gamma, degree)
    seconds = time.perf_counter() - start
    exact = machine.decision_function(data.X_test)
    on_train = machine.decision_function(data.X_train)
    return Problem(
        key=key,
        data=data,
        svc=svc,
        machine=machine,
        estimator=estimator,
        exact=exact,
        train_error=float(np.mean((on_train > 0) != (data.y_train > 0))),
        test_error=float(np.mean((exact > 0) != (data.y_test > 0))),
        at_bound=float(np.mean(np.abs(machine.beta) >= C * (1 - 1e-6))),
        fit_seconds=seconds,
        notes=made.notes,
        scaler=made.scaler,
        pair=made.pair,
    )


def most_iterations(X: NDArray[Any]) -> int:
    """Return after how many steps training on X is stopped.

    Examples
    --------
    >>> import numpy as np
    >>> most_iterations(np.empty((2_000, 2))), most_iterations(np.empty((20_000, 2)))
    (1000000, 29411)
    """
    n, d = X.shape
    each = CACHED if 4 * n * n <= CACHE_BYTES else NANOSECONDS + A_FEATURE * d
    afforded = 1e9 * MOST_SECONDS / (n * each)
    return min(MOST_ITERATIONS, max(n // 2, int(afforded)))


def fit(
    X: NDArray[Any],
    y: NDArray[Any],
    kernel: str,
    C: float,
    gamma: float | str | None,
    degree: int | None,
) -> tuple[SVC, KernelMachine, Any]:
    """Train, and return the SVC, its machine and an estimator that takes rows like X.

    scikit-learn is slow with a callable kernel. The normalised polynomial kernel is a plain
    power of dot products of the embedded rows, so the SVC is trained on those.
    """
    svc = named_svc(kernel, C, gamma or "scale", degree or 3, max_iter=most_iterations(X))
    if not callable(svc.kernel):
        svc.fit(X, y)
        return svc, KernelMachine.from_estimator(svc), svc
    normalized = svc.kernel
    svc.set_params(**string_kernel(normalized.plain)).fit(normalized.embed(X), y)
    order = np.argsort(svc.support_)
    machine = KernelMachine(
        X[svc.support_[order]], svc.dual_coef_.ravel()[order], -float(svc.intercept_[0]), normalized
    )
    embed = KernelEmbedding(normalized)
    return svc, machine, Pipeline([("embed", embed.fit(X[:1])), ("svc", svc)])
