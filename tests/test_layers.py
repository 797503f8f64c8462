"""Imports point one way, outside libraries stay in their layer, private names in theirs."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# A layer may import itself and what stands to its left.
ORDER = [
    {"loops", "kernels"},
    {"machines"},
    {"traces"},
    {"methods"},
    {"io"},
    {"evaluation", "papers"},
    {"charts"},
    {"views", "cli"},
    {"ui"},
    {"pages"},
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
ANYWHERE = {"datasets"}
ONLY_IN = {
    "numba": {"loops"},
    "plotly": {"charts"},
    "streamlit": {"ui", "pages"},
}


parsed = cache(ast.parse)  # every rule reads the same sources


def layer_of(module: str) -> str:
    """The layer of a dotted module: kmviz.ui.state -> ui; pages and app.py -> pages."""
    parts = module.split(".")
    if parts[0] in ("pages", "app"):
        return "pages"
    if parts == ["kmviz"] or parts[1] in ("__init__", "__main__"):
        return "kmviz"
    return parts[1]


def imported(source: str, module: str, is_package: bool) -> set[str]:
    """Every module a source imports, in full dotted form, relative imports resolved."""
    found = set()
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = origin(node, module, is_package)
            found.add(base)
            if base == "kmviz":  # from kmviz import charts
                found |= {f"kmviz.{alias.name}" for alias in node.names}
    return found


def origin(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    """The full dotted name of the module that `from ... import` reads."""
    base = node.module or ""
    if not node.level:
        return base
    package = module.split(".") if is_package else module.split(".")[:-1]
    package = package[: len(package) - node.level + 1]
    return ".".join([*package, base]) if base else ".".join(package)


def violations(source: str, module: str, is_package: bool = False) -> list[str]:
    """What a source imports against the rules."""
    here = layer_of(module)
    wrong = []
    for name in sorted(imported(source, module, is_package)):
        top = name.split(".")[0]
        if here not in ONLY_IN.get(top, {here}):
            wrong.append(f"{module} imports {name}: only {sorted(ONLY_IN[top])} may")
        if top != "kmviz" or name == "kmviz" or here == "kmviz":
            continue
        there = layer_of(name)
        if here == "datasets" and there != "datasets":
            wrong.append(f"{module} imports {name}: datasets stands alone")
        elif there in RANK and RANK.get(here, -1) < RANK[there]:
            wrong.append(f"{module} imports {name}: against the direction")
        elif here == there == "methods" and _is_other_method(module, name):
            wrong.append(f"{module} imports {name}: methods do not import one another")
    return wrong


SHARED_BY_METHODS = {
    "base", "progress", "promise", "reduction", "regression", "rows", "sampling",
    "study", "sums", "transforms",
}  # fmt: skip


def _is_other_method(module: str, name: str) -> bool:
    mine, theirs = module.split(".")[2:3], name.split(".")[2:3]
    if mine == ["register"]:  # it lists them all
        return False
    return bool(mine and theirs) and theirs != mine and theirs[0] not in SHARED_BY_METHODS


def sources() -> list[Path]:
    return sorted([*ROOT.glob("kmviz/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py"])


def module_of(path: Path) -> tuple[str, bool]:
    """The dotted name of a source, and whether it is a package."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    return ".".join(parts[:-1] if is_package else parts), is_package


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", sources(), ids=name_of)
def test_imports_point_leftwards(path):
    module, is_package = module_of(path)
    assert violations(path.read_text(encoding="utf-8"), module, is_package) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("kmviz.kernels", "import kmviz.machines"),
        ("kmviz.machines.machine", "from kmviz.methods import nsv"),
        ("kmviz.traces", "from kmviz import charts"),
        ("kmviz.methods.nsv", "from ..evaluation import cost"),
        ("kmviz.methods.nsv", "from . import anytime\nfrom .anytime import AnytimeClassifier"),
        ("kmviz.evaluation.cost", "def f():\n    from kmviz.charts import theme"),
        ("kmviz.charts.nsv", "import kmviz.ui.shell.frame"),
        ("kmviz.charts.nsv", "import streamlit as st"),
        ("kmviz.evaluation.cost", "from kmviz.charts import theme"),
        ("kmviz.methods.nsv", "import numba"),
        ("kmviz.ui.shell.frame", "import plotly.graph_objects as go"),
        ("kmviz.views.controls", "import streamlit as st"),
        ("kmviz.views.controls", "from kmviz.ui import parts"),
        ("kmviz.charts.nsv", "import kmviz.views.openings"),
        ("kmviz.datasets.samples", "from kmviz.kernels import RBF"),
        ("kmviz.cli.main", "import streamlit"),
        ("pages.1_Nearest", "import numba"),
    ],
)
def test_a_wrong_import_is_caught(module, source):
    assert violations(source, module)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("kmviz.methods.nsv.thresholds", "from kmviz.methods.nsv.ordering import Ordering"),
        ("kmviz.methods.nsv", "from .base import MachineClassifier\nfrom ..kernels import RBF"),
        ("kmviz.ui.shell.frame", "from kmviz import datasets, charts\nimport streamlit"),
        ("pages.1_Nearest", "from kmviz import charts, ui\nimport streamlit as st"),
        ("kmviz.charts.nsv", "from kmviz.evaluation.costs import cost"),
    ],
)
def test_a_right_import_passes(module, source):
    assert violations(source, module) == []


# Names with one leading underscore belong to the package that defines them.

#: Private names that are read outside their package all the same, each for its reason.
ALLOWED = {
    "_replace": "public in a NamedTuple",
    "_asdict": "public in a NamedTuple",
    "_validate_params": "scikit-learn's, how an estimator checks what it was given",
    "_parameter_constraints": "scikit-learn's, the parameters an estimator has",
    "_gamma": "SVC keeps the number that gamma='scale' came to nowhere else",
    "_n_support": "libsvm reads the counts from there, and from nowhere else",
    "_probA": "SVC's public name for it warns",
    "_probB": "SVC's public name for it warns",
    "_sparse": "SVC says nowhere else whether it was trained on sparse rows",
    "_BaseLibSVM__Xfit": "SVC with a callable kernel keeps its rows nowhere else",
    "sklearn.utils._param_validation": "scikit-learn's checks of parameters have no public home",
    "sklearn.utils._safe_indexing": "rows of arrays and frames alike",
    "sklearn.utils.validation._num_samples": "rows of arrays and frames alike",
}

#: Reaches that are still there; each file that is mended leaves this list.
KNOWN = {}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def defined(source: str) -> set[str]:
    """The private names that a source gives a meaning to: functions, classes, attributes."""
    found = set()
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return set(filter(is_private, found))


def reached(source: str) -> set[str]:
    """The private attributes that a source reads of anything but its own self, cls or super()."""
    tree = parsed(source)
    own = {node for method in _methods(tree) for node in _of_itself(method)}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node not in own:
            found.add(node.attr)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "hasattr"):
            found |= {a.value for a in node.args[1:2] if isinstance(a, ast.Constant)}
    return set(filter(is_private, found))


def _methods(tree: ast.Module) -> list[ast.FunctionDef]:
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return [node for cls in classes for node in cls.body if isinstance(node, ast.FunctionDef)]


def _of_itself(method: ast.FunctionDef) -> list[ast.Attribute]:
    """What a method reads of its first argument or of super()."""
    first = method.args.args[0].arg if method.args.args else None
    found = []
    for node in ast.walk(method):
        if isinstance(node, ast.Attribute):
            of = node.value
            name = getattr(of.func, "id", "") if isinstance(of, ast.Call) else None
            if name == "super" or (isinstance(of, ast.Name) and of.id == first):
                found.append(node)
    return found


def taken(source: str, module: str, is_package: bool = False) -> set[str]:
    """The private names, and names of private modules, imported from elsewhere."""
    found = set()
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.ImportFrom):
            base = origin(node, module, is_package)
            if base != "__future__" and _home(base) != _home(module):
                found |= {base if _hides(base) else f"{base}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {a.name for a in node.names if _home(a.name) != _home(module)}
    return set(filter(_hides, found))


def _hides(dotted: str) -> bool:
    return any(map(is_private, dotted.split(".")))


def _home(module: str) -> tuple[str, ...]:
    """The package whose private names a module may use: its layer; of methods, its folder."""
    parts = module.split(".")
    if parts[0] != "kmviz":
        return tuple(parts[:1])
    return tuple(parts[:3]) if parts[1:2] == ["methods"] else (parts[0], layer_of(module))


def private_reaches(source: str, module: str, own: set[str], is_package: bool = False) -> list[str]:
    """Private names of other packages that a source touches; `own` are those of its package."""
    of_layer = own | defined(source)
    found = (reached(source) - of_layer) | taken(source, module, is_package)
    return sorted(found - set(ALLOWED))


def test_private_names_stay_in_their_package():
    texts = {path: path.read_text(encoding="utf-8") for path in sources()}
    own: dict[str, set[str]] = {}
    for path, text in texts.items():
        own.setdefault(layer_of(module_of(path)[0]), set()).update(defined(text))
    found = {}
    for path, text in texts.items():
        module, is_package = module_of(path)
        if wrong := private_reaches(text, module, own[layer_of(module)], is_package):
            found[name_of(path)] = wrong
    assert found == KNOWN, "mend what is new; take what is mended out of KNOWN"


@pytest.mark.parametrize("name", ALLOWED)
def test_every_exception_is_still_needed(name):
    texts = [path.read_text(encoding="utf-8") for path in sources()]
    assert any(name.rpartition(".")[2] in text for text in texts)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("kmviz.ui.nsv", "engine._tables"),
        ("kmviz.ui.nsv", "clf.engine_._walk(X)"),
        ("kmviz.ui.nsv", "def f(cls):\n    return cls._train()"),
        ("kmviz.ui.nsv", "class A:\n    def f(self, other):\n        return other._train()"),
        ("kmviz.ui.nsv", "getattr(clf, '_engine')"),
        ("kmviz.ui.nsv", "from kmviz.methods.nsv.engine import _walk"),
        ("kmviz.ui.nsv", "from kmviz.methods._nsv import walk"),
        ("kmviz.ui.nsv", "import kmviz.methods._nsv"),
        ("kmviz.ui.nsv", "from ..methods.nsv.engine import _walk"),
        ("kmviz.methods.nsv.engine", "from kmviz.methods.base import _rows"),
        ("kmviz.machines.reading", "from sklearn.svm._base import BaseLibSVM"),
        ("pages.1_Nearest", "from kmviz.ui import _session"),
    ],
)
def test_a_reach_for_a_private_name_is_caught(module, source):
    assert private_reaches(source, module, own=set())


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("kmviz.methods.nsv.engine", "class A:\n    def f(self):\n        return self._walk()"),
        ("kmviz.methods.nsv.engine", "class A:\n    def f(me):\n        return super()._walk()"),
        ("kmviz.methods.nsv.engine", "def _walk(): ...\nmodule._walk()"),
        ("kmviz.methods.nsv.engine", "from kmviz.methods.nsv.reference import _walk"),
        ("kmviz.methods.nsv.engine", "from .walk import _walk"),
        ("kmviz.machines.fisher", "from sklearn.utils._param_validation import Interval"),
        ("kmviz.ui.nsv", "from __future__ import annotations\nclf.__class__"),
    ],
)
def test_private_names_of_ones_own_pass(module, source):
    assert private_reaches(source, module, own=set()) == []


# A room holds no more than it did: lowered as rooms shrink.

#: The most lines and files of each room; "root" is what stands beside the rooms.
ROOMS = {
    "root": (600, 4),
    "cli": (1_500, 17),
    "datasets": (1_950, 12),
    "evaluation": (2_150, 13),
    "charts": (3_465, 20),
    "io": (1_650, 12),
    "lessons": (250, 1),
    "loops": (4_400, 30),
    "machines": (2_270, 15),
    "methods": (16_020, 87),
    "traces": (620, 8),
    "ui views": (7_500, 49),  # what Start, Compare and Papers draw moved in from their scripts
}


def room_of(path: Path) -> str:
    """The entry of ROOMS that a source counts with."""
    parts = path.relative_to(ROOT / "kmviz").parts
    name = parts[0] if len(parts) > 1 else "root"
    return next((rooms for rooms in ROOMS if name in rooms.split()), name)


def sizes(paths: list[Path]) -> dict[str, tuple[int, int]]:
    """The lines and files of each room."""
    found = dict.fromkeys(ROOMS, (0, 0))
    for path in paths:
        lines, files = found.get(room_of(path), (0, 0))
        more = len(path.read_text(encoding="utf-8").splitlines())
        found[room_of(path)] = lines + more, files + 1
    return found


def crowded(found: dict[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    """The rooms that are larger than ROOMS allows, or not in it."""
    return {
        room: (lines, files)
        for room, (lines, files) in found.items()
        if room not in ROOMS or lines > ROOMS[room][0] or files > ROOMS[room][1]
    }


def test_no_room_grows():
    found = sizes(sorted(ROOT.glob("kmviz/**/*.py")))
    assert min(files for _, files in found.values()) > 0, "a room that is gone leaves ROOMS"
    assert crowded(found) == {}, "take something away, or say in ROOMS why it is worth it"


def test_a_room_that_grows_is_caught():
    assert crowded({"traces": (ROOMS["traces"][0] + 1, 1), "attic": (1, 1)}).keys() == {
        "traces", "attic",
    }  # fmt: skip
    assert crowded({"traces": (1, ROOMS["traces"][1] + 1)})
    assert not crowded(ROOMS)
