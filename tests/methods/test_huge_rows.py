"""Numbers that no kernel value exists for are refused, in words, wherever they come from."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import kmviz
from kmviz.methods.register import METHODS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = X[:, 0] * X[:, 1] > 0
LARGE = [1e60, 1e150, 1e250]


#: Local machines measure in widths of their own: data of any size that has distances.
ANY_SIZE = {"falk", "knnsvm"}
REFUSING = [method for method in METHODS if method.name not in ANY_SIZE]


@pytest.mark.parametrize("method", REFUSING, ids=lambda method: method.name)
def test_every_method_refuses_them_in_a_batch_and_alone(method):
    clf = method.cls().fit(X, Y)
    for size in LARGE:
        for rows in (X[:1] * size, X[:40] * size):
            with pytest.raises(ValueError, match=r"(?i)scale the features"):
                clf.predict(rows)
        with pytest.raises(ValueError, match=r"(?i)scale the features"):
            method.cls().fit(X * size, Y)


def test_the_column_is_named_and_a_scaler_before_the_machine_is_a_remedy():
    rows = X.copy()
    rows[7, 2] = -3e70
    clf = kmviz.ExactClassifier().fit(X, Y)
    for given in (rows, csr_array(rows)):
        with pytest.raises(ValueError, match=r"3e\+70 in column 2"):
            clf.predict(given)
    scaled = kmviz.ExactClassifier(make_pipeline(StandardScaler(), SVC())).fit(X * 1e60, Y)
    np.testing.assert_array_equal(scaled.predict(X * 1e60), scaled.estimator_.predict(X * 1e60))
    with pytest.raises(ValueError, match="Scale the features"):
        kmviz.ExactRegressor(SVR()).fit(X, X[:, 0]).predict(rows)
