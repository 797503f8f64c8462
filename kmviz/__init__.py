"""Kernel machines that answer fast, and show why."""

from kmviz.evaluation import papers
from kmviz.evaluation.accelerate import accelerate
from kmviz.evaluation.audit import audit
from kmviz.evaluation.compare import compare
from kmviz.evaluation.storage import load, save
from kmviz.methods.anytime import AnytimeClassifier
from kmviz.methods.exact import ExactClassifier
from kmviz.methods.svtree import SVTreeClassifier
from kmviz.methods.nsv import NSVClassifier

__all__ = ["AnytimeClassifier", "ExactClassifier", "SVTreeClassifier", "NSVClassifier", "accelerate", "audit", "compare", "load", "papers", "save"]
__version__ = "0.1.0"
