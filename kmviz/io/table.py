"""A classifier that reads a user's table: the encoder and the estimator, stored as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

    from kmviz.datasets import TableEncoder


class TableClassifier:
    """A fitted classifier behind the encoder its training table was read with.

    Parameters
    ----------
    encoder : TableEncoder
        Turns a frame into the matrix that `classifier` was trained on.
    classifier : fitted classifier

    Examples
    --------
    >>> import pandas as pd
    >>> from kmviz import ExactClassifier
    >>> from kmviz.datasets import TableEncoder
    >>> from kmviz.io.table import TableClassifier
    >>> frame = pd.DataFrame({"a": [0.0, 0.1, 1.0, 1.1], "y": ["no", "no", "yes", "yes"]})
    >>> encoder = TableEncoder.fit(frame, "y")
    >>> fitted = ExactClassifier().fit(encoder.transform(frame), encoder.labels(frame))
    >>> TableClassifier(encoder, fitted).predict(frame).tolist()
    ['no', 'no', 'yes', 'yes']
    """

    def __init__(self, encoder: TableEncoder, classifier: Any) -> None:
        self.encoder = encoder
        self.classifier = classifier

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes as the table names them, in the order of the classifier's own."""
        return np.array(self.encoder.classes, dtype=object)

    def decision_function(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """Return the classifier's output for each row of `frame`."""
        return self.classifier.decision_function(self.encoder.transform(frame))

    def predict(self, frame: pd.DataFrame) -> NDArray[Any]:
        """Return the class of each row of `frame`, as the training table named it."""
        return self.names_of(self.classifier.predict(self.encoder.transform(frame)))

    def names_of(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Return the table's names of the classifier's labels."""
        return self.classes_[np.searchsorted(self.classifier.classes_, labels)]
