"""Imports point one way, and each outside library stays in its layer."""

from __future__ import annotations

import ast
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
    {"evaluation"},
    {"figures", "cli"},
    {"ui"},
    {"pages"},
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
ANYWHERE = {"datasets"}
ONLY_IN = {
    "numba": {"loops"},
    "plotly": {"figures"},
    "streamlit": {"ui", "pages"},
}


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
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = module.split(".") if is_package else module.split(".")[:-1]
                package = package[: len(package) - node.level + 1]
                base = ".".join([*package, base]) if base else ".".join(package)
            found.add(base)
            if base == "kmviz":  # from kmviz import figures
                found |= {f"kmviz.{alias.name}" for alias in node.names}
    return found


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


SHARED_BY_METHODS = {"base", "progress", "promise", "study", "sums", "transforms"}


def _is_other_method(module: str, name: str) -> bool:
    mine, theirs = module.split(".")[2:3], name.split(".")[2:3]
    if mine == ["register"]:  # it lists them all
        return False
    return bool(mine and theirs) and theirs != mine and theirs[0] not in SHARED_BY_METHODS


def sources() -> list[Path]:
    return sorted([*ROOT.glob("kmviz/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py"])


@pytest.mark.parametrize("path", sources(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_leftwards(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    module = ".".join(parts[:-1] if is_package else parts)
    assert violations(path.read_text(encoding="utf-8"), module, is_package) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("kmviz.kernels", "import kmviz.machines"),
        ("kmviz.machines.machine", "from kmviz.methods import nsv"),
        ("kmviz.traces", "from kmviz import figures"),
        ("kmviz.methods.nsv", "from ..evaluation import cost"),
        ("kmviz.methods.nsv", "from . import anytime\nfrom .anytime import AnytimeClassifier"),
        ("kmviz.evaluation.cost", "def f():\n    from kmviz.figures import theme"),
        ("kmviz.figures.effort", "import kmviz.ui.state"),
        ("kmviz.figures.effort", "import streamlit as st"),
        ("kmviz.methods.nsv", "import numba"),
        ("kmviz.ui.frame", "import plotly.graph_objects as go"),
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
        ("kmviz.methods.nsv.envelope", "from kmviz.methods.nsv.ordering import Ordering"),
        ("kmviz.methods.nsv", "from .base import MachineClassifier\nfrom ..kernels import RBF"),
        ("kmviz.ui.frame", "from kmviz import datasets, figures\nimport streamlit"),
        ("pages.1_Nearest", "from kmviz import figures, ui\nimport streamlit as st"),
    ],
)
def test_a_right_import_passes(module, source):
    assert violations(source, module) == []
