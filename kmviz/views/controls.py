"""Every choice of a visitor, by its name in the URL: label, default, range, and how it is written.

To add one, add its line here, name it among the page's own, and draw it:
`OWN = ("w", "order")`, `frame(title, own=OWN)`, `controls.draw("w")`. Which parameter of an
estimator a choice drives stands in the register (`Method.url`); `parameters` joins the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kmviz import datasets, lessons
from kmviz.datasets.drawing import read_drawing
from kmviz.evaluation.catalogue import title_of
from kmviz.evaluation.peers import PEERS
from kmviz.io.places import tables_folder
from kmviz.machines.named import NAMES
from kmviz.methods.register import method, settings, usual

#: The longest text that a URL may give where any text is allowed.
LONGEST = 400
NONE = "none"


@dataclass(frozen=True)
class Control:
    """One choice. Its default says what it is: a number, a word, a switch, or several words.

    Attributes
    ----------
    label : str
    default : object
    options : mapping
        The words that it may be, and how they are read out; of a number, the words that may stand
        in its place, and how some numbers are read out.
    low, high : float, optional
        The limits of a number.
    empty : object
        The value that the URL leaves out; default: none.
    is_whole : bool
        Whether a number must be an integer, where its default does not say so.
    steps : tuple
        The places of a number's slider; default: all between its limits.
    is_typed : bool
        Whether a number is typed, instead of moved by a slider.
    check : callable, optional
        Raises ValueError for a text that is not allowed.
    help : str, optional
    """

    label: str
    default: Any
    options: Mapping[Any, str] = field(default_factory=dict)
    low: Any = None
    high: Any = None
    empty: Any = ...
    is_whole: bool = False
    steps: tuple[Any, ...] = ()
    is_typed: bool = False
    check: Callable[[str], Any] | None = None
    help: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.default, int) and not isinstance(self.default, bool):
            object.__setattr__(self, "is_whole", True)

    @property
    def is_number(self) -> bool:
        """Return True if its value is a number, or a word in a number's place."""
        return self.low is not None

    def parse(self, text: str) -> Any:
        """Return the value of a text; ValueError where it is not allowed."""
        value = self._value(text)
        if not self.allows(value):
            raise ValueError(f"{self.label} cannot be {text!r}.")
        return value

    def _value(self, text: str) -> Any:
        if not text and self.empty is not ...:
            return self.empty
        if isinstance(self.default, bool):
            return {"true": True, "false": False}.get(text)
        if isinstance(self.default, list):
            return [word for word in self.options if word in text.split(",")]
        if not self.is_number or text in self.options:
            return text
        number = float(text) + 0.0  # -0.0 is 0
        return int(number) if self.is_whole and number.is_integer() else number

    def allows(self, value: Any) -> bool:
        """Return True if a value is allowed."""
        if isinstance(self.default, bool):
            return isinstance(value, bool)
        if isinstance(self.default, list):
            return isinstance(value, list) and bool(value) and set(value) <= set(self.options)
        if self.is_number and not isinstance(value, str):
            return value is self.empty or self._is_within(value)
        return isinstance(value, str) and (value in self.options or self._is_checked(value))

    def _is_within(self, value: Any) -> bool:
        if value is None or isinstance(value, bool) or not math.isfinite(value):
            return False
        whole = not self.is_whole or value == int(value)
        return whole and bool(self.low <= value <= self.high)

    def _is_checked(self, text: str) -> bool:
        if self.check is None or len(text) > LONGEST:
            return False
        try:
            self.check(text)
        except ValueError:
            return False
        return True

    def text(self, value: Any) -> str | None:
        """Return how the URL writes a value; None where it leaves it out."""
        if value is self.empty or value == self.empty:
            return None
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, list):
            return ",".join(value)
        if isinstance(value, float):
            return str(int(value)) if value.is_integer() else repr(value)
        return str(value)

    def spoken(self, value: Any) -> str:
        """Return how a value is read out."""
        if isinstance(value, list):
            return ", ".join(map(self.spoken, value[:2])) + " and others" * (len(value) > 2)
        return self.options.get(value) or (f"{value:g}" if isinstance(value, float) else str(value))


def _any(text: str) -> None:
    """Allow every text: what it means depends on other choices."""


def _stored_table(text: str) -> None:
    """Allow the name of a table that is stored."""
    if text not in {path.stem for path in tables_folder().glob("*.csv")}:
        raise ValueError(f"There is no table {text!r}.")


def setting(text: str) -> dict[str, Any]:
    """Return the choices that a setting beside the present one names: "w~10,order~exact"."""
    pairs = [part.partition("~")[::2] for part in text.split(",") if part]
    if not CONTROLS.keys() >= {name for name, _ in pairs}:
        raise ValueError(f"{text!r} names something that is no choice.")
    return {name: CONTROLS[name].parse(value) for name, value in pairs}


def setting_text(values: Mapping[str, Any]) -> str:
    """Return the text that names all of these choices."""
    return ",".join(f"{name}~{CONTROLS[name].text(value) or ''}" for name, value in values.items())


def read(
    names: tuple[str, ...], url: Mapping[str, str], defaults: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the choices that a URL gives, and the texts in it that are not allowed, by name."""
    values, refused = dict(defaults), {}
    for name in names:
        if name in url:
            try:
                values[name] = CONTROLS[name].parse(url[name])
            except ValueError:
                refused[name] = url[name]
    return values, refused


def write(names: tuple[str, ...], values: Mapping[str, Any]) -> dict[str, str]:
    """Return choices as the parameters of a URL."""
    texts = {name: CONTROLS[name].text(values[name]) for name in names}
    return {name: text for name, text in texts.items() if text is not None}


def parameters(name: str, values: Mapping[str, Any], *only: str) -> dict[str, Any]:
    """Return choices as parameters of a method's estimator.

    Parameters
    ----------
    name : the method's name in the register
    values : the choices, by URL parameter
    only : these parameters of the estimator alone; default: all
    """
    given = {parameter: values[url] for url, parameter in method(name).url.items() if url in values}
    return {key: value for key, value in given.items() if not only or key in only}


KERNELS = dict(
    zip(NAMES, ("linear", "polynomial", "RBF (Gaussian)", "polynomial, normalised"), strict=True)
)
COSTS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
GAMMAS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0)
RATES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
#: Of Compare: what it offers, and what it runs unasked.
OFFERED = tuple(name for name in (*settings(), *PEERS) if name != "exact")
USUAL = (*usual(), *(name for name, peer in PEERS.items() if peer.is_usual))

#: Every data set: a visitor's own table and the model that the app was started with, too.
DATA = (*datasets.names(), "upload", "yours")
#: The choices that all pages share: the data, the SVM, the query, the lesson.
SHARED: dict[str, Control] = {
    "data": Control("Data set", "banana", dict.fromkeys(DATA, "")),
    "pair": Control("Two classes", "", check=_any, empty=""),
    "n": Control(
        "Training rows", None, low=20, high=20_000, is_whole=True, empty=None, is_typed=True
    ),
    "noise": Control("Noise", None, low=0.0, high=200.0, empty=None, is_typed=True),
    "drawn": Control("Drawing", "", check=read_drawing, empty=""),
    "seed": Control(
        "Seed", 0, low=0, high=9_999, is_typed=True, help="Which sample or split."
    ),
    "kernel": Control("Kernel", "rbf", KERNELS),
    "C": Control(
        "C", 10.0, low=1e-3, high=1e5, steps=COSTS,
        help="The price of a training error: small gives a smooth boundary, large a detailed one.",
    ),
    "gamma": Control(
        "gamma", "scale", {"scale": "scale"}, low=1e-6, high=1e4, empty="scale",
        steps=("scale", *GAMMAS),
        help="How fast similarity fades with distance. `scale` is 1 / (features x variance).",
    ),
    "degree": Control("Degree", 3, low=1, high=12),
    "query": Control("Query", 0, low=0, high=10_000_000, is_typed=True),
    "lesson": Control("Lesson", "", dict.fromkeys(("", *lessons.names()), ""), empty=""),
    "part": Control("Part", None, low=1, high=99, is_whole=True, empty=None),
    "present": Control("Present", False, empty=False),
}  # fmt: skip

_NSV = {
    "w": Control("Window w", 10, low=0, high=200),
    "q": Control(
        "Components q", 20, low=1, high=64, is_typed=True,
        help="Principal components that order vectors.",
    ),
    "order": Control("Order", "nearest", {
        "nearest": "nearest first, by PCA",
        "tug_of_war": "tug of war between the classes",
        "exact": "nearest first, by the kernel itself",
    }),
    "filter": Control(
        "Linear filter", True, {True: "on", False: "off"},
        help="A linear SVM settles the easy queries.",
    ),
    "start": Control("The sum starts from", "empty", {
        "empty": "nothing, as published",
        "approximate": "the approximation of all terms",
        "reduced": "reduced vectors, then the approximation",
    }),
    "calibration": Control("Thresholds come from", "cross_fit", {
        "cross_fit": "rows, each left out once",
        "left_out": "one left-out tenth of them",
        "train": "training rows (published)",
    }, help="Rows that the machine was trained on flatter it."),
    "margin": Control(
        "Margin", NONE, {NONE: "usual"}, low=0.0, high=8.0,
        steps=(NONE, 0.0, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0),
        help="How far thresholds move out, in scatters of f - g at their step. Usual: 0, and 0.25 "
        "(from an empty sum) or 0.5 (from the approximation) for left-out rows.",
    ),
    "promise": Control(
        "Promise", NONE, {NONE: "nothing"} | {rate: f"{rate:.1%}" for rate in RATES},
        low=1e-4, high=0.5, steps=(NONE, *RATES),
        help="At most this share of answers differs from the exact machine's: a quarter of the "
        "training rows is held out, and chooses and proves the margin.",
    ),
    "confidence": Control(
        "Confidence", 0.95, {0.9: "90%", 0.95: "95%", 0.99: "99%"}, low=0.5, high=0.999,
        steps=(0.9, 0.95, 0.99), help="How sure the promise is.",
    ),
}  # fmt: skip

_ANYTIME = {
    "basis": Control("Basis: which vectors, in what order", "min_wz", {
        "min_wz": "min_wz: what leaves least of the machine",
        "given": "given: support vectors in file order",
        "sgma": "sgma: what leaves least of the kernel matrix",
        "min_wz_n": "min_wz_n: min_wz among training rows too",
        "mean_lh_n": "mean_lh_n: tuned on a sample of queries",
        "hybrid": "hybrid: min_wz_n, ties broken by mean_lh_n",
        "spectral": "spectral: eigenvectors, degree-2 kernels (ours)",
    }, help="The machine is one vector W in feature space. Each basis vector tells a coordinate of "
       "W and of the query; what is left of both bounds f(x). The order decides how soon little "
       "is left."),
    "sample": Control("Queries that tune it", "train", {
        "train": "about 200 training rows",
        "test": "the test rows themselves",
    }, help="Some orders are tuned on a sample of queries. Where the queries to come are known, as "
       "they are in a batch, they may tune it themselves: no labels enter, and the bounds stay "
       "proved."),
    "step": Control("Step k", None, low=1, high=20_000, is_whole=True, empty=None),
}  # fmt: skip

_REDUCED = {
    "vectors": Control("Vectors n", 10, low=1, high=48),
    "method": Control("How vectors are found", "joint", {
        "joint": "joint: one by one, then all",
        "incremental": "incremental: one at a time",
        "fixed_point": "fixed point (RBF): Schölkopf's iteration",
        "selection": "selection: support vectors as they are",
    }),
    "tune": Control("Fine-tuning", NONE, {
        NONE: "none (the paper's)",
        "margin": "towards the margin (ours)",
    }, help="Moves vectors and weights once more, until the sides of training rows are right; kept "
       "at each size where rows that did not tune say so."),
    "shift": Control(
        "Virtual support vectors: shift by pixels", 1, low=0, high=3,
        help="Copies of the support vectors, shifted in four directions, are trained on before "
        "reducing. 0 reduces the machine as it is.",
    ),
}  # fmt: skip

_LOCAL = {
    "k": Control("Neighbours k", 60, low=2, high=2_000, is_typed=True),
    "kp": Control(
        "k'", None, {None: "k/2"}, low=1, high=2_000, is_whole=True, empty=None, is_typed=True,
        help="Points that a centre answers for. Empty: half of k.",
    ),
    "select": Control("Who answers", "point", {
        "point": "nearest point's centre (FaLK)",
        "center": "nearest centre (FaLKc)",
    }),
    "cover": Control("Centres in", "random", {
        "random": "random order",
        "tree": "cover-tree order",
    }),
    "width": Control("Kernel width", "machine", {
        "machine": "the machine's",
        "local": "each its own (median)",
    }),
    "removed": Control(
        "Mark noise", False,
        help="Training rows that the model of their own centre puts into the other class.",
    ),
}  # fmt: skip

_TREE = {
    "height": Control("Height", 10, low=1, high=64),
    "split": Control("Split", "alternating", {
        "alternating": "alternating (paper)",
        "exact": "exact: best of all",
    }),
    "refit": Control("Fit", "column", {
        "column": "by column (paper)",
        "path": "whole path anew",
    }),
    "stem": Control(
        "Stem", 0.0, low=0.0, high=0.9, steps=(0.0, 0.25, 0.5, 0.75),
        help="Share of the height, from the root, that asks without splitting: what all queries "
        "have in common (ours).",
    ),
    "mean": Control(
        "Mean path at most", 0.0, {0.0: "no limit"}, low=0.0, high=30.0,
        steps=(0.0, 5.0, 7.5, 10.0, 15.0),
        help="Of the grown tree, the splits that help least are taken back (ours).",
    ),
    "candidates": Control(
        "Reduced vectors beside", 0, {0: NONE}, low=0, high=16, steps=(0, 3, 5, 8),
        help="Vectors of a reduced set that nodes may ask too; a stem asks them first (ours).",
    ),
    "node": Control("Node", 0, low=0, high=1_000_000),
}  # fmt: skip

_COMPARE = {
    "methods": Control(
        "Methods and settings", list(USUAL), {name: title_of(name) for name in OFFERED}
    ),
    "cost": Control("Cost of a query", "batch", {
        "batch": "CPU µs per query, many at once",
        "single": "CPU µs per query, one at a time",
        "values": "kernel values per query, overhead included",
    }),
}  # fmt: skip

#: Every choice, by its name in the URL.
CONTROLS: dict[str, Control] = {
    **SHARED,
    **_NSV,
    **_ANYTIME,
    **_REDUCED,
    **_LOCAL,
    **_TREE,
    **_COMPARE,
    "table": Control("Table", "svtree_accuracy", check=_stored_table),
    "a": Control("Setting A", "", check=setting, empty=""),
}
