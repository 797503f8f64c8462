"""Equal rows count once: in what a promise rests on, and in how its rows are dealt."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

import kmviz
from kmviz.methods.promise import deal_groups, distinct_misses, group_rows

ROWS = np.array([[0.0, 1.0], [2.0, 0.0], [-0.0, 1.0], [2.0, 0.0], [3.0, 3.0]])


@pytest.mark.parametrize(
    "rows",
    [ROWS, ROWS.astype(np.float32), csr_array(ROWS), pd.DataFrame(ROWS), ROWS.tolist()],
    ids=["array", "float32", "sparse", "frame", "list"],
)
def test_equal_rows_have_one_number(rows):
    assert group_rows(rows).tolist() == [0, 1, 0, 1, 2]


def test_rows_of_words_are_compared_by_what_they_say():
    frame = pd.DataFrame({"city": ["Rome", "Oslo", "Ro" + "me"], "n": [1, 2, 1]})
    assert group_rows(frame).tolist() == [0, 1, 0]
    assert group_rows(["a b", "a", "a b"]).tolist() == [0, 1, 0]


def test_misses_are_counted_by_rows_or_by_share_whichever_is_worse():
    group = np.array([0, 0, 0, 0, 0, 0, 1, 2, 3, 4])
    assert distinct_misses(group == 0, group) == (3, 5)  # .6 of all rows
    assert distinct_misses(group > 2, group) == (2, 5)  # .2 of all rows, 2 of 5 distinct
    assert distinct_misses(group > 9, group) == (0, 5)
    alone = np.arange(40)
    assert distinct_misses(alone < 7, alone) == (7, 40)


def test_groups_are_dealt_whole_and_single_rows_as_a_permutation():
    group = np.random.default_rng(0).integers(0, 30, 200)
    group = np.unique(group, return_inverse=True)[1]
    first, rest = deal_groups(group, 12, np.random.RandomState(0))
    assert len(set(group[first])) == 12
    assert not set(group[first]) & set(group[rest])
    assert sorted([*first, *rest]) == list(range(200))
    first, rest = deal_groups(np.arange(50), 20, np.random.RandomState(3))
    np.testing.assert_array_equal([*first, *rest], np.random.RandomState(3).permutation(50))


def test_nsv_counts_copies_of_its_proof_once():
    X, y = make_moons(200, noise=0.3, random_state=0)
    svc = SVC(gamma=2.0).fit(X, y)
    unseen = make_moons(600, noise=0.3, random_state=1)[0]
    options = {"max_disagreement": 0.05, "random_state": 0}
    once = kmviz.NSVClassifier(FrozenEstimator(svc), **options).fit(X, X_calibration=unseen)
    copied = np.tile(unseen, (4, 1))
    again = kmviz.NSVClassifier(FrozenEstimator(svc), **options).fit(X, X_calibration=copied)
    assert again.promise_.rows == once.promise_.rows == 300
    with pytest.raises(ValueError, match="1 distinct row"):
        kmviz.NSVClassifier(FrozenEstimator(svc), **options).fit(
            X, X_calibration=np.repeat(unseen[:1], 600, axis=0)
        )
