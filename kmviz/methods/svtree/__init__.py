"""Support vector trees: every query follows one path and asks only the vectors on it."""

from kmviz.methods.svtree.classifier import SVTreeClassifier
from kmviz.methods.svtree.tree import SVTree

__all__ = ["SVTree", "SVTreeClassifier"]
