"""The problem that every page looks at: a data set and the machine trained on it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kmviz.datasets import Dataset, TableEncoder
from kmviz.io.storage import readable_bytes
from kmviz.io.table import TableClassifier
from kmviz.machines import KernelEmbedding, KernelMachine
from kmviz.machines.named import named_svc, string_kernel
from kmviz.views import code, prepare
from kmviz.views.openings import MACHINE
from kmviz.views.yours import Yours

#: Steps of training: enough for any machine that settles, some seconds for one that does not.
MOST_ITERATIONS = 2_000_000
#: As many steps as these seconds allow, at so many nanoseconds a row; more where the kernel's rows
#: do not fit libsvm's cache and are computed again and again, and then more for each feature.
MOST_SECONDS, CACHE_BYTES, CACHED, NANOSECONDS, A_FEATURE = 6.0, 200 * 2**20, 3.0, 10.0, 0.1
#: Rows times steps of a training that is not done ten times over.
LONG = 1.5e8


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
    scaler : StandardScaler, Pipeline or None
        What the rows of `data` went through: their scales differed widely, or a model has steps.
    query : int
        The selected row of `data.X_test`.
    encoder : TableEncoder or None
        How the visitor's own table became numbers, with the two classes at hand.
    file, labels : str, tuple
        The name of that table, and the labels that it has for the two classes.
    choices : mapping
        The shared choices that it was made by.
    yours : Yours or None
        The fitted model that it shows, if that came with the command line.
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
    scaler: StandardScaler | Pipeline | None
    pair: str
    query: int = 0
    encoder: TableEncoder | None = None
    file: str = ""
    labels: tuple[int, ...] = ()
    choices: Mapping[str, Any] = field(default_factory=dict)
    yours: Yours | None = None

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
        """Return True if training took too many steps for a page to train many such SVMs."""
        return len(self.data.X_train) * int(self.svc.n_iter_.max()) > LONG

    @property
    def is_unfinished(self) -> bool:
        """Return True if training was stopped before it had settled."""
        return int(self.svc.n_iter_.max()) >= self.svc.max_iter

    @property
    def names(self) -> tuple[str, str]:
        """The names of the classes -1 and +1, for a text in Markdown."""
        low, high = map(prepare.literal, self.data.class_names)
        return low, high

    @property
    def is_plane(self) -> bool:
        """Return True if the data is two-dimensional and can be drawn as it is."""
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


def train(
    key: tuple, whole: Dataset, choices: Mapping[str, Any], yours: Yours | None = None
) -> Problem:
    """Return the problem that the choices make of a data set.

    Parameters
    ----------
    key : stands for the problem
    yours : a fitted model in place of the SVM that would be trained
    """
    made = prepare.prepare(whole, choices["pair"], choices["n"], is_scaled=yours is None)
    data, machine_choices = made.data, {name: choices[name] for name in MACHINE}
    start = time.perf_counter()
    if yours is None:
        svc, machine, estimator = fit(data.X_train, data.y_train, **machine_choices)
    else:
        svc, machine = yours.svc(prepare.find_pair(whole, choices["pair"]))
        estimator = svc
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
        at_bound=float(np.mean(np.abs(machine.beta) >= svc.C * (1 - 1e-6))),
        fit_seconds=seconds,
        notes=made.notes,
        scaler=made.scaler if yours is None else yours.steps,
        pair=made.pair,
        yours=yours,
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
