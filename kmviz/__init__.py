"""Kernel machines that answer fast, and show why.

What a name stands for is imported when it is first asked for: `import kmviz` itself takes no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names again, for those who read types
    from kmviz import (
        datasets as datasets,
        kernels as kernels,
        machines as machines,
        papers as papers,
    )
    from kmviz.charts.plot import plot as plot
    from kmviz.evaluation.accelerate import accelerate as accelerate
    from kmviz.evaluation.audit import audit as audit
    from kmviz.evaluation.compare import compare as compare
    from kmviz.io.export import export as export
    from kmviz.io.storage import load as load, save as save
    from kmviz.machines import KernelMachine as KernelMachine
    from kmviz.methods.anytime import (
        AnytimeClassifier as AnytimeClassifier,
        AnytimeRegressor as AnytimeRegressor,
    )
    from kmviz.methods.exact import (
        ExactClassifier as ExactClassifier,
        ExactRegressor as ExactRegressor,
    )
    from kmviz.methods.falk import (
        FaLKClassifier as FaLKClassifier,
        KNNSVMClassifier as KNNSVMClassifier,
        LocalNoiseReducer as LocalNoiseReducer,
        PartitionedFaLK as PartitionedFaLK,
    )
    from kmviz.methods.nsv import NSVClassifier as NSVClassifier
    from kmviz.methods.promise import PromiseWarning as PromiseWarning
    from kmviz.methods.reduced import (
        ReducedSetClassifier as ReducedSetClassifier,
        ReducedSetRegressor as ReducedSetRegressor,
    )
    from kmviz.methods.rivals import (
        BaggedSVMClassifier as BaggedSVMClassifier,
        CoreVectorClassifier as CoreVectorClassifier,
        CPSPClassifier as CPSPClassifier,
        LaSVMClassifier as LaSVMClassifier,
        RampSVMClassifier as RampSVMClassifier,
        SparseSVMClassifier as SparseSVMClassifier,
        SubsampledSVC as SubsampledSVC,
    )
    from kmviz.methods.svtree import SVTreeClassifier as SVTreeClassifier
    from kmviz.methods.virtual import VirtualSVClassifier as VirtualSVClassifier

__version__ = "0.3.0"

#: Every public name and the module it comes from.
_HOMES = {
    "AnytimeClassifier": "kmviz.methods.anytime",
    "AnytimeRegressor": "kmviz.methods.anytime",
    "BaggedSVMClassifier": "kmviz.methods.rivals",
    "CPSPClassifier": "kmviz.methods.rivals",
    "CoreVectorClassifier": "kmviz.methods.rivals",
    "ExactClassifier": "kmviz.methods.exact",
    "ExactRegressor": "kmviz.methods.exact",
    "FaLKClassifier": "kmviz.methods.falk",
    "KNNSVMClassifier": "kmviz.methods.falk",
    "KernelMachine": "kmviz.machines",
    "LaSVMClassifier": "kmviz.methods.rivals",
    "LocalNoiseReducer": "kmviz.methods.falk",
    "NSVClassifier": "kmviz.methods.nsv",
    "PartitionedFaLK": "kmviz.methods.falk",
    "PromiseWarning": "kmviz.methods.promise",
    "RampSVMClassifier": "kmviz.methods.rivals",
    "ReducedSetClassifier": "kmviz.methods.reduced",
    "ReducedSetRegressor": "kmviz.methods.reduced",
    "SVTreeClassifier": "kmviz.methods.svtree",
    "SparseSVMClassifier": "kmviz.methods.rivals",
    "SubsampledSVC": "kmviz.methods.rivals",
    "VirtualSVClassifier": "kmviz.methods.virtual",
    "accelerate": "kmviz.evaluation.accelerate",
    "audit": "kmviz.evaluation.audit",
    "compare": "kmviz.evaluation.compare",
    "datasets": "kmviz.datasets",
    "export": "kmviz.io.export",
    "kernels": "kmviz.kernels",
    "load": "kmviz.io.storage",
    "machines": "kmviz.machines",
    "papers": "kmviz.papers",
    "plot": "kmviz.charts.plot",
    "save": "kmviz.io.storage",
}

#: Packages that some of them need beside the library, and what to install where one is missing.
_EXTRAS = {"pandas": "pandas pyarrow", "pyarrow": "pandas pyarrow", "plotly": "plotly"}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        home = import_module(_HOMES[name])
    except ModuleNotFoundError as error:
        if error.name not in _EXTRAS:
            raise
        remedy = f"pip install {_EXTRAS[error.name]}"
        raise ImportError(f"kmviz.{name} needs {error.name}: {remedy}") from error
    globals()[name] = found = getattr(home, name, home)  # a part of kmviz is its own home
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
