"""What the product knows about each method: one frozen record, read by everything that lists them.

`compare`, the command line, the app's menu and links, figures and tests read `METHODS`. To add a
method, write its own files and add its record here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kmviz.methods.anytime import AnytimeClassifier
from kmviz.methods.exact import ExactClassifier
from kmviz.methods.falk import FaLKClassifier, KNNSVMClassifier
from kmviz.methods.nsv import NSVClassifier
from kmviz.methods.reduced import ReducedSetClassifier
from kmviz.methods.rivals import (
    BaggedSVMClassifier,
    CoreVectorClassifier,
    CPSPClassifier,
    LaSVMClassifier,
    RampSVMClassifier,
    SparseSVMClassifier,
    SubsampledSVC,
)
from kmviz.methods.svtree import SVTreeClassifier
from kmviz.methods.virtual import VirtualSVClassifier

#: The family of the papers' rivals, and the page that shows methods without one of their own.
RIVALS = "what the papers compared with"
COMPARE = "pages/6_Compare.py"

#: A machine of more vectors is large: what would take hours to prepare for it is cut down.
LARGE = 4_000


@dataclass(frozen=True)
class Setting:
    """One method with one choice of parameters: a point of a comparison.

    Attributes
    ----------
    name : str
        How `compare` and the command line call it.
    title : str
        As a reader would say it.
    parameters : mapping
        Parameters of the estimator that are not its defaults.
    cut : mapping
        Parameters in their place for a machine of more than `LARGE` vectors.
    note : str
        What `cut` comes to, as a reader would say it.
    is_usual : bool
        Whether `compare` runs it unasked.
    is_tried : bool
        Whether `accelerate` tries it unasked.
    cls : type
        The method's class; its `Method` fills it in.
    """

    name: str
    title: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    cut: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    is_usual: bool = False
    is_tried: bool = False
    cls: Any = None

    def make(self, n_vectors: int = 0) -> Any:
        """Return the unfitted estimator for a machine of so many vectors."""
        seeded = {"random_state": 0} if "random_state" in self.cls().get_params() else {}
        return self.cls(**{**seeded, **self.parameters_for(n_vectors)})

    def parameters_for(self, n_vectors: int) -> dict[str, Any]:
        """Return the parameters for a machine of so many vectors."""
        return {**self.parameters, **(self.cut if n_vectors > LARGE else {})}

    def note_for(self, n_vectors: int) -> str:
        """Return what was cut down for a machine of so many vectors; empty where nothing was."""
        return self.note if n_vectors > LARGE else ""


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes
    ----------
    name : str
        Its short name.
    cls : type
        The estimator.
    title : str
        As a reader would say it.
    family : str
        What it is drawn with: one colour and one legend entry for each family.
    page : str
        The file of the page that shows it; `COMPARE` where it has none of its own.
    url : mapping
        URL parameter of that page -> parameter of the estimator.
    link : mapping
        What else a link to that page says, so that it shows the estimator as it is.
    opening : mapping
        The view that the page opens with where nothing was chosen, as a URL would say it.
    icon, line : str
        The page's icon in the menu, and what stands there in one line.
    certified : bool
        Whether a proof, not a sample, keeps the exact machine's answers (up to rounding).
    takes_frozen : bool
        Whether it takes a trained machine, as `FrozenEstimator(svc)`.
    keeps_machine : bool
        Whether it answers in place of a trained machine; others train machines of their own.
    cross_fits : bool
        Whether it does better with an untrained machine, which it trains on folds.
    proves_rate : bool
        Whether `max_disagreement=` makes it prove a rate on rows held out.
    settings : tuple of Setting
        What `compare` and the command line offer.
    """

    name: str
    cls: type
    title: str
    family: str
    page: str
    url: Mapping[str, str] = field(default_factory=dict)
    link: Mapping[str, str] = field(default_factory=dict)
    opening: Mapping[str, str] = field(default_factory=dict)
    icon: str = ""
    line: str = ""
    certified: bool = False
    takes_frozen: bool = True
    keeps_machine: bool = True
    cross_fits: bool = False
    proves_rate: bool = False
    settings: tuple[Setting, ...] = ()

    def __post_init__(self) -> None:
        own = tuple(replace(setting, cls=self.cls) for setting in self.settings)
        object.__setattr__(self, "settings", own)

    @property
    def page_title(self) -> str:
        """The page's title, which its file name says.

        Examples
        --------
        >>> from kmviz.methods.register import method
        >>> method("knnsvm").page_title
        'Local models'
        """
        return page_title(self.page)


def page_title(file: str) -> str:
    """Return the title that Streamlit's convention for file names gives a page."""
    stem = file.rsplit("/", 1)[-1].removesuffix(".py")
    return stem.split("_", 1)[-1].replace("_", " ").capitalize()


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


def _rival(name: str, cls: type, title: str, *settings: Setting) -> Method:
    """Return the record of a rival: it trains a machine of its own, and has no page of its own."""
    return Method(
        name=name, cls=cls, title=title, family=RIVALS, page=COMPARE, takes_frozen=False,
        keeps_machine=False, settings=settings,
    )  # fmt: skip


METHODS: tuple[Method, ...] = (
    Method(
        name="nsv",
        cls=NSVClassifier,
        title="Nearest support vectors",
        family="nearest support vectors",
        page="pages/1_Nearest_Support_Vectors.py",
        url={
            "w": "window",
            "q": "n_components",
            "order": "order",
            "filter": "linear_filter",
            "start": "start",
            "calibration": "calibration",
            "margin": "margin",
            "promise": "max_disagreement",
            "confidence": "confidence",
        },
        opening={"data": "banana", "C": "0.3", "gamma": "2", "filter": "false", "query": "4"},
        icon=":material/target:",
        line="Look at the most similar support vectors first and stop once the sign is settled.",
        cross_fits=True,
        proves_rate=True,
        settings=(
            Setting("nsv", "NSV, w = 10", **_LEFT_OUT, is_usual=True, is_tried=True),
            Setting("nsv_w2", "NSV, w = 2", {"window": 2}, **_LEFT_OUT),
            Setting("nsv_w50", "NSV, w = 50", {"window": 50}, **_LEFT_OUT),
            Setting(
                "nsv_approximate", "NSV from an approximation", {"start": "approximate"},
                **_LEFT_OUT, is_usual=True, is_tried=True,
            ),
            Setting(
                "nsv_reduced", "NSV from reduced vectors", {"start": "reduced"},
                **_LEFT_OUT, is_usual=True, is_tried=True,
            ),
        ),
    ),
    Method(
        name="anytime",
        cls=AnytimeClassifier,
        title="Anytime bounds",
        family="anytime bounds",
        page="pages/2_Anytime_Bounds.py",
        url={"basis": "order"},
        opening={"data": "banana"},
        icon=":material/straighten:",
        line="Narrow a guaranteed interval around f(x) step by step until it leaves zero behind.",
        certified=True,
        settings=(
            Setting(
                "anytime", "anytime bounds, min Wz", **_BREAK_EVEN, is_usual=True, is_tried=True
            ),
            Setting(
                "anytime_hybrid", "anytime bounds, hybrid", {"order": "hybrid"}, **_BREAK_EVEN
            ),
            Setting(
                "anytime_spectral", "anytime bounds, spectral", {"order": "spectral"},
                is_tried=True,
            ),
        ),
    ),
    Method(
        name="reduced",
        cls=ReducedSetClassifier,
        title="Reduced set",
        family="reduced set",
        page="pages/3_Reduced_Set.py",
        url={"vectors": "n_vectors", "method": "method", "tune": "tune"},
        link={"method": "joint", "shift": "0"},
        opening={
            "data": "checkerboard", "noise": "0", "C": "1", "gamma": "2", "vectors": "16",
        },
        icon=":material/compress:",
        line="Replace thousands of support vectors by a handful that say nearly the same.",
        settings=(
            Setting("reduced_2", "reduced set, 2%", {"n_vectors": 0.02}, **_few(40)),
            Setting(
                "reduced_5", "reduced set, 5%", {"n_vectors": 0.05}, **_few(100),
                is_usual=True, is_tried=True,
            ),
            Setting("reduced", "reduced set, 10%", **_few(200), is_usual=True, is_tried=True),
            Setting(
                "reduced_tuned", "reduced set, 2%, tuned", {"n_vectors": 0.02, "tune": "margin"},
                **_few(40),
            ),
        ),
    ),
    Method(
        name="svtree",
        cls=SVTreeClassifier,
        title="Support vector tree",
        family="support vector tree",
        page="pages/5_Support_Vector_Tree.py",
        url={
            "height": "max_height", "split": "split", "refit": "refit", "stem": "stem",
            "mean": "max_mean", "candidates": "candidates",
        },
        link={"height": "64", "mean": "0", "candidates": "0"},
        opening={
            "data": "banana", "C": "1", "gamma": "1", "split": "exact", "refit": "path",
            "stem": "0.25", "height": "12",
        },
        icon=":material/account_tree:",
        line="Ask one support vector at each fork: ten comparisons lead to an answer.",
        settings=(
            Setting("svtree", "SV tree, as published", is_usual=True),
            Setting(
                "svtree_path", "SV tree, exact splits, refitted path",
                {"split": "exact", "refit": "path", "stem": 0.5}, is_usual=True, is_tried=True,
            ),
        ),
    ),
    Method(
        name="falk",
        cls=FaLKClassifier,
        title="FaLK-SVM",
        family="local models",
        page="pages/4_Local_Models.py",
        url={"k": "n_neighbors", "kp": "n_cover", "select": "select", "cover": "cover"},
        link={"width": "machine"},
        opening={
            "data": "two_spirals", "noise": "0", "C": "10", "gamma": "10", "k": "20", "kp": "10",
        },
        icon=":material/map:",
        line="Train many small machines and let the nearest one answer.",
        takes_frozen=False,
        keeps_machine=False,
        settings=(
            Setting("falk_100", "FaLK-SVM, k = 100", {"n_neighbors": 100}),
            Setting("falk", "FaLK-SVM, k = 250"),
            Setting(
                "falk_auto", "FaLK-SVM, k = 250, fast search",
                {"projection": "auto"}, is_usual=True,
            ),
        ),
    ),
    Method(
        name="knnsvm",
        cls=KNNSVMClassifier,
        title="kNNSVM",
        family="local models",
        page="pages/4_Local_Models.py",
        url={"k": "n_neighbors"},
        link={"width": "machine"},
        takes_frozen=False,
        keeps_machine=False,
        settings=(Setting("knnsvm", "kNNSVM, k = 100"),),
    ),
    Method(
        name="virtual",
        cls=VirtualSVClassifier,
        title="Virtual support vectors",
        family="virtual support vectors",
        page="pages/3_Reduced_Set.py",
        url={"shift": "shift"},
        keeps_machine=False,
        settings=(Setting("virtual", "virtual SVs"),),
    ),
    Method(
        name="exact",
        cls=ExactClassifier,
        title="Exact machine",
        family="exact machine",
        page="app.py",
        certified=True,
        settings=(Setting("exact", "exact machine, float32", is_tried=True),),
    ),
    _rival(
        "cpsp", CPSPClassifier, "Cutting-plane subspace pursuit",
        Setting("cpsp", "CPSP, 50 vectors"),
        Setting("cpsp_tr", "CPSP(tr), 50 training rows", {"basis": "train"}),
    ),
    _rival(
        "sparse_svm", SparseSVMClassifier, "SpSVM",
        Setting("sparse_svm", "SpSVM, 50 training rows", {"n_vectors": 50}),
    ),
    _rival("lasvm", LaSVMClassifier, "LASVM", Setting("lasvm", "LASVM, two passes")),
    _rival(
        "core_vector", CoreVectorClassifier, "Core vector machine",
        Setting("cvm", "core vectors (CVM)"),
        Setting("bvm", "ball vectors (BVM)", {"ball": "enclosing"}),
    ),
    _rival("ramp", RampSVMClassifier, "Ramp loss", Setting("ramp", "ramp loss (USVM)")),
    _rival(
        "bagged", BaggedSVMClassifier, "Bagged SVMs",
        Setting("bagged", "bagged SVMs, 101 of a twentieth"),
    ),
    _rival(
        "subsampled", SubsampledSVC, "SVC on a subsample",
        Setting("subsampled", "SVC on a tenth of the rows", {"n_samples": 0.1}),
    ),
)  # fmt: skip


def method(name: str) -> Method:
    """Return a method by its short name."""
    return next(one for one in METHODS if one.name == name)


def method_of(estimator: Any) -> Method | None:
    """Return the method that an estimator, fitted or not, is of; None where it is of none."""
    return next((one for one in METHODS if type(estimator) is one.cls), None)


def settings() -> dict[str, Setting]:
    """Return the settings of all methods by name, in the order in which tables show them."""
    return {one.name: one for method in METHODS for one in method.settings}


def usual() -> list[str]:
    """Return the names of the settings that are compared unasked."""
    return [name for name, one in settings().items() if one.is_usual]


def setting(name: str) -> Setting | None:
    """Return a setting by its name; None where no method offers it."""
    return settings().get(name)


def method_offering(name: str) -> Method | None:
    """Return the method that offers a setting."""
    return next((one for one in METHODS if name in (s.name for s in one.settings)), None)


def offered(name: str) -> tuple[Method, Setting]:
    """Return a setting that a method offers, with the method."""
    method, known = method_offering(name), setting(name)
    if method is None or known is None:
        raise ValueError(f"No method offers {name!r}.")
    return method, known


def is_certified(name: str) -> bool:
    """Whether a proof, not a sample, keeps a setting's answers ("exact": up to rounding)."""
    method = method_offering(name)
    return method is not None and method.certified


def families() -> tuple[str, ...]:
    """Return the families in the order of their colours."""
    return tuple(dict.fromkeys(one.family for one in METHODS))
