"""Kernel machines that answer fast, and show why."""

from kmviz.methods.exact import ExactClassifier

__all__ = ["ExactClassifier"]
__version__ = "0.1.0"
