"""The rivals: what the papers measured their methods against.

Each trains a kernel machine of its own for each pair of classes, and answers by summing over it.

- `subsampled`: an SVC on a part of the rows,
- `bagged`: small SVMs that vote (SVM-B, SVM-Bs),
- `ramp`: the ramp loss (USVM),
- `sparse`: few training rows chosen greedily (SpSVM),
- `lasvm`: rows seen one at a time (LASVM),
- `core`: a ball around the rows in feature space (CVM, BVM),
- `cpsp`: cutting planes and basis vectors together (CPSP).
"""

from kmviz.methods.rivals.bagged import BaggedSVMClassifier
from kmviz.methods.rivals.core import CoreVectorClassifier
from kmviz.methods.rivals.cpsp import CPSPClassifier
from kmviz.methods.rivals.lasvm import LaSVMClassifier
from kmviz.methods.rivals.ramp import RampSVMClassifier
from kmviz.methods.rivals.sparse import SparseSVMClassifier
from kmviz.methods.rivals.subsampled import SubsampledSVC

__all__ = [
    "BaggedSVMClassifier",
    "CPSPClassifier",
    "CoreVectorClassifier",
    "LaSVMClassifier",
    "RampSVMClassifier",
    "SparseSVMClassifier",
    "SubsampledSVC",
]
