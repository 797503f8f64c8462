"""Local kernel machines: N. Segata and E. Blanzieri. Fast and scalable local kernel machines.
Journal of Machine Learning Research 11, 2010.

A set of small SVMs, each trained on the k nearest points of a centre, answers in place of one
large SVM: a query goes to the model of the centre that its nearest training point belongs to. No
path trains a global SVM.

- `neighbors`, `projection`: neighbourhoods in feature space (eq. 3),
- `cover`: which points become centres (definition 1, eq. 9, eq. 11, algorithm 1),
- `training`, `models`, `answering`: the local SVMs in flat arrays,
- `selection`: choice of k, C and width inside neighbourhoods (definitions 3 to 5),
- `theory`: the bound of eq. 13, and what locality costs (eq. 14 and 15),
- `local`: what the eager and the lazy classifier share,
- `classifier`, `lazy`, `noise`: FaLK-SVM(c, l), kNNSVM, and the noise reducers,
- `partitioned`, `boxes`: FaLK-SVM on more rows than memory holds.
"""

from kmviz.methods.falk.classifier import FaLKClassifier
from kmviz.methods.falk.lazy import KNNSVMClassifier
from kmviz.methods.falk.noise import LocalNoiseReducer
from kmviz.methods.falk.partitioned import PartitionedFaLK

__all__ = [
    "FaLKClassifier",
    "KNNSVMClassifier",
    "LocalNoiseReducer",
    "PartitionedFaLK",
]
