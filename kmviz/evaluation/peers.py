"""What a user would pick instead of a fast kernel machine, ready to be compared with one.

Each peer is built for the machine at hand: same kernel and gamma where it has one, same cost C.
A peer also says how many kernel values (or products of a row with a vector) a query costs it,
where that can be said.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from kmviz.evaluation.reference import Reference, with_string_kernel
from kmviz.kernels import RBF, is_known
from kmviz.machines import KernelEmbedding
from kmviz.machines.named import string_kernel
from kmviz.machines.unwrap import last_step

COMPONENTS = 100


@dataclass(frozen=True)
class Peer:
    """One alternative.

    Attributes
    ----------
    title : str
    build : callable
        `build(reference)` gives an unfitted estimator.
    values : callable
        `values(reference)` gives kernel values per query, NaN where none are computed.
    needs : str
        The package it takes, empty where scikit-learn suffices.
    is_usual : bool
        Whether the app compares it unasked.
    """

    title: str
    build: Callable[[Reference], Any]
    values: Callable[[Reference], float]
    needs: str = ""
    is_usual: bool = False

    @property
    def installed(self) -> bool:
        """Whether the package it needs is there."""
        return not self.needs or find_spec(self.needs) is not None


class OnnxClassifier(ClassifierMixin, BaseEstimator):
    """A fitted scikit-learn classifier, converted and run by onnxruntime on one thread."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any = None) -> OnnxClassifier:
        """Convert the frozen estimator."""
        import onnxruntime
        from skl2onnx import to_onnx

        fitted = self.estimator.estimator
        self.classes_ = fitted.classes_
        with warnings.catch_warnings():  # it reads attributes that scikit-learn 1.9 deprecates
            warnings.simplefilter("ignore", FutureWarning)
            row = np.asarray(X[:1], dtype=np.float32)
            model = to_onnx(fitted, row, options={"zipmap": False})
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = settings.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(model.SerializeToString(), settings)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        rows = np.asarray(X, dtype=np.float32)
        found = self._session.run(None, {self._session.get_inputs()[0].name: rows})[0]
        return found.astype(self.classes_.dtype)


def _linear(ref: Reference) -> LinearSVC:
    return LinearSVC(C=ref.cost, dual="auto", max_iter=20_000, random_state=0)


def _landmarks(ref: Reference) -> int:
    return min(COMPONENTS, len(ref.X_train))


def _nystroem(ref: Reference) -> Any:
    if not is_known(ref.kernel):
        raise ValueError("Nystroem is compared for the kernels of kmviz.kernels only.")
    given = string_kernel(ref.kernel.plain)
    features = Nystroem(n_components=_landmarks(ref), random_state=0, **given)
    return make_pipeline(KernelEmbedding(ref.kernel), features, _linear(ref))


def _fourier(ref: Reference) -> Any:
    gamma = ref.kernel.gamma if isinstance(ref.kernel, RBF) else "scale"
    features = RBFSampler(gamma=gamma, n_components=COMPONENTS, random_state=0)
    return make_pipeline(features, _linear(ref))


def _boosting(ref: Reference) -> Any:
    return HistGradientBoostingClassifier(random_state=0)


def _intelex(ref: Reference) -> Any:
    from sklearnex.svm import SVC as IntelSVC

    svc = last_step(ref.fitted)
    parameters = svc.get_params()
    if not callable(svc.kernel):
        return IntelSVC(**parameters)
    return _embedded(ref, IntelSVC(**parameters | string_kernel(_known(svc.kernel).plain)))


def _onnx(ref: Reference) -> Any:
    svc = last_step(ref.fitted)
    if not callable(svc.kernel):
        return OnnxClassifier(FrozenEstimator(ref.fitted))
    _known(svc.kernel)
    return _embedded(ref, OnnxClassifier(FrozenEstimator(with_string_kernel(svc))))


def _known(kernel: Any) -> Any:
    if not is_known(kernel):
        raise ValueError("Peers that know libsvm's kernels only cannot take this one.")
    return kernel


def _embedded(ref: Reference, peer: Any) -> Any:
    """A peer with a string kernel on embedded rows: equal to the kmviz kernel of the machine."""
    return make_pipeline(KernelEmbedding(ref.kernel), peer)


def _machine(ref: Reference) -> float:
    return float(ref.n_vectors)


def _directions(ref: Reference) -> float:
    """One product for two classes; more are told apart one against the rest."""
    classes = len(ref.exact.classes_)
    return float(classes if classes > 2 else 1)


PEERS: dict[str, Peer] = {
    "svc": Peer("SVC (libsvm)", lambda ref: FrozenEstimator(ref.fitted), _machine),
    "linear_svc": Peer("linear SVM", _linear, _directions, is_usual=True),
    "nystroem": Peer("Nystroem + linear", _nystroem, _landmarks, is_usual=True),
    "fourier": Peer("random Fourier features + linear", _fourier, lambda ref: float(COMPONENTS)),
    "knn": Peer(
        "5 nearest neighbours", lambda ref: KNeighborsClassifier(), lambda ref: len(ref.X_train)
    ),
    "boosting": Peer("gradient boosting", _boosting, lambda ref: float("nan"), is_usual=True),
    "intelex": Peer("scikit-learn-intelex", _intelex, _machine, needs="sklearnex"),
    "onnx": Peer("onnxruntime", _onnx, _machine, needs="onnxruntime"),
}


def installed() -> list[str]:
    """Return the names of the peers that can be run here.

    Examples
    --------
    >>> from kmviz.evaluation.peers import installed
    >>> installed()[:3]
    ['svc', 'linear_svc', 'nystroem']
    """
    return [name for name, peer in PEERS.items() if peer.installed]
