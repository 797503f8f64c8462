"""The methods by short name, with the settings that `compare` and the command line offer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import count
from typing import Any

from sklearn.base import clone

from kmviz.evaluation.peers import PEERS, Peer

#: Short name: module, class.
CLASSES = {
    "exact": ("kmviz.methods.exact", "ExactClassifier"),
    "nsv": ("kmviz.methods.nsv", "NSVClassifier"),
    "anytime": ("kmviz.methods.anytime", "AnytimeClassifier"),
    "reduced": ("kmviz.methods.reduced", "ReducedSetClassifier"),
    "virtual": ("kmviz.methods.virtual", "VirtualSVClassifier"),
    "falk": ("kmviz.methods.falk", "FaLKClassifier"),
    "knnsvm": ("kmviz.methods.falk", "KNNSVMClassifier"),
    "svtree": ("kmviz.methods.svtree", "SVTreeClassifier"),
}


#: A machine of more vectors is large: what would take hours to prepare for it is cut down.
LARGE = 4_000


@dataclass(frozen=True)
class Setting:
    """One method with one choice of parameters: a point of the comparison.

    Attributes
    ----------
    method : str
        Short name of the class, a key of `CLASSES`.
    title : str
        As a reader would say it.
    parameters : dict
    cut : dict
        Parameters in their place for a machine of more than `LARGE` vectors.
    note : str
        What `cut` comes to, as a reader would say it.
    """

    method: str
    title: str
    parameters: dict[str, Any] = field(default_factory=dict)
    cut: dict[str, Any] = field(default_factory=dict)
    note: str = ""

    def make(self, n_vectors: int = 0) -> Any:
        """Return the unfitted estimator; its `estimator`, where it has one, is None.

        Parameters
        ----------
        n_vectors : int
            Of the machine it is for; `cut` applies to large ones.
        """
        module, name = CLASSES[self.method]
        cls = getattr(import_module(module), name)
        known = cls._parameter_constraints
        seeded = {"random_state": 0} if "random_state" in known else {}
        return cls(**{**seeded, **self.parameters_for(n_vectors)})

    def parameters_for(self, n_vectors: int) -> dict[str, Any]:
        """Return the parameters for a machine of so many vectors."""
        return self.parameters | (self.cut if n_vectors > LARGE else {})

    def note_for(self, n_vectors: int) -> str:
        """Return what was cut down for a machine of so many vectors; empty where nothing was."""
        return self.note if n_vectors > LARGE else ""


#: How each method is cut down for a large machine.
_LEFT_OUT: dict[str, Any] = {
    "cut": {"calibration": "left_out"},
    "note": "thresholds from one left-out tenth",
}
_BREAK_EVEN: dict[str, Any] = {
    "cut": {"max_steps": "auto"},
    "note": "exact sum after sqrt(d m) steps",
}


def _few(n: int) -> dict[str, Any]:
    return {"cut": {"n_vectors": n}, "note": f"{n} vectors only"}


#: Every setting by name, in the order in which tables show them.
SETTINGS: dict[str, Setting] = {
    "nsv": Setting("nsv", "NSV, w = 10", **_LEFT_OUT),
    "nsv_w2": Setting("nsv", "NSV, w = 2", {"window": 2}, **_LEFT_OUT),
    "nsv_w50": Setting("nsv", "NSV, w = 50", {"window": 50}, **_LEFT_OUT),
    "nsv_approximate": Setting(
        "nsv", "NSV from an approximation", {"start": "approximate"}, **_LEFT_OUT
    ),
    "anytime": Setting("anytime", "anytime bounds, min Wz", **_BREAK_EVEN),
    "anytime_hybrid": Setting(
        "anytime", "anytime bounds, hybrid", {"order": "hybrid"}, **_BREAK_EVEN
    ),
    "anytime_spectral": Setting("anytime", "anytime bounds, spectral", {"order": "spectral"}),
    "reduced_2": Setting("reduced", "reduced set, 2%", {"n_vectors": 0.02}, **_few(40)),
    "reduced_5": Setting("reduced", "reduced set, 5%", {"n_vectors": 0.05}, **_few(100)),
    "reduced": Setting("reduced", "reduced set, 10%", **_few(200)),
    "svtree": Setting("svtree", "SV tree, as published"),
    "svtree_path": Setting(
        "svtree", "SV tree, exact splits, refitted path",
        {"split": "exact", "refit": "path", "stem": 0.5},
    ),
    "falk_100": Setting("falk", "FaLK-SVM, k = 100", {"n_neighbors": 100}),
    "falk": Setting("falk", "FaLK-SVM, k = 250"),
    "knnsvm": Setting("knnsvm", "kNNSVM, k = 100"),
    "virtual": Setting("virtual", "virtual SVs"),
}  # fmt: skip

#: What `compare` runs when nothing is named: each method, and what a user would pick instead.
DEFAULT = (
    "nsv", "nsv_approximate", "anytime", "reduced_5", "reduced", "svtree", "svtree_path", "falk",
    "svc", "linear_svc", "nystroem", "fourier", "knn", "boosting", "intelex", "onnx",
)  # fmt: skip

Methods = Mapping[str, Any] | Iterable[Any]


def title_of(name: str) -> str:
    """Return how a setting or a peer is called in tables; the name itself if it is neither."""
    if name == "exact":
        return "exact machine, float32"
    known = SETTINGS.get(name) or PEERS.get(name)
    return known.title if known else name


def is_certified(name: str) -> bool:
    """Whether a proof, not a sample, keeps the answers (those of "exact" up to rounding)."""
    return name == "exact" or (name in SETTINGS and SETTINGS[name].method == "anytime")


def resolve(methods: Methods | None = None) -> dict[str, Any]:
    """Return name -> `Setting`, `Peer` or unfitted estimator.

    Parameters
    ----------
    methods : mapping, list or None
        Names of settings and peers, estimators, or a mapping of names to either. An estimator
        goes by its class, the second of a class by "NSVClassifier-2". None is `DEFAULT`, without
        the peers that are not installed.

    Examples
    --------
    >>> from kmviz.evaluation.catalogue import resolve
    >>> list(resolve(["exact", "linear_svc"]))
    ['exact', 'linear_svc']
    """
    if methods is None:
        methods = [name for name in DEFAULT if name not in PEERS or PEERS[name].installed]
    if isinstance(methods, str):
        methods = [methods]
    if isinstance(methods, Mapping):
        return {name: _made(method) for name, method in methods.items()}
    made: dict[str, Any] = {}
    for name, method in map(_named, methods):
        made[_free(name, made) if not isinstance(method, str) else name] = _made(method)
    return made


def _free(name: str, taken: dict[str, Any]) -> str:
    """Return the name, numbered where estimators of the same class stand before it."""
    names = (name if n == 1 else f"{name}-{n}" for n in count(1))
    return next(free for free in names if free not in taken)


def _named(method: Any) -> tuple[str, Any]:
    if isinstance(method, tuple) and len(method) == 2:
        return method
    return (method if isinstance(method, str) else type(method).__name__), method


def _made(method: Any) -> Any | Peer | Setting:
    if not isinstance(method, str):
        return clone(method)
    if method in PEERS:
        return PEERS[method]
    if method == "exact":
        return Setting("exact", title_of("exact"))
    if method not in SETTINGS:
        known = ", ".join(["exact", *SETTINGS, *PEERS])
        raise ValueError(f"No method is called {method!r}; choose among {known}.")
    return SETTINGS[method]
