"""Kernel machines that answer fast, and show why."""

from kmviz import datasets, kernels, machines
from kmviz.evaluation import papers
from kmviz.evaluation.accelerate import accelerate
from kmviz.evaluation.audit import audit
from kmviz.evaluation.compare import compare
from kmviz.io.storage import load, save
from kmviz.machines import KernelMachine
from kmviz.methods.anytime import AnytimeClassifier
from kmviz.methods.exact import ExactClassifier
from kmviz.methods.falk import FaLKClassifier, KNNSVMClassifier, LocalNoiseReducer
from kmviz.methods.nsv import NSVClassifier
from kmviz.methods.reduced import ReducedSetClassifier
from kmviz.methods.rivals import (
    BaggedSVMClassifier,
    LaSVMClassifier,
    RampSVMClassifier,
    SparseSVMClassifier,
    SubsampledSVC,
)  # fmt: skip
from kmviz.methods.svtree import SVTreeClassifier
from kmviz.methods.virtual import VirtualSVClassifier

__all__ = [
    "AnytimeClassifier",
    "BaggedSVMClassifier",
    "ExactClassifier",
    "FaLKClassifier",
    "KNNSVMClassifier",
    "KernelMachine",
    "LaSVMClassifier",
    "LocalNoiseReducer",
    "NSVClassifier",
    "RampSVMClassifier",
    "ReducedSetClassifier",
    "SVTreeClassifier",
    "SparseSVMClassifier",
    "SubsampledSVC",
    "VirtualSVClassifier",
    "accelerate",
    "audit",
    "compare",
    "datasets",
    "kernels",
    "load",
    "machines",
    "papers",
    "save",
]
__version__ = "0.1.0"
