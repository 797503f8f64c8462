"""The exact machine, by float32 products over all of its vectors."""

from kmviz.methods.exact.classifier import ExactClassifier
from kmviz.methods.exact.regressor import ExactRegressor

__all__ = ["ExactClassifier", "ExactRegressor"]
