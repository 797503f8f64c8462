"""Equal rows count once: in what a promise rests on, and in how its rows are dealt."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

import kmviz
from kmviz.methods.promise import (
    deal_groups,
    distinct_misses,
    group_rows,
    hold_out,
    interval,
    smallest_margin,
    upper_bound,
)

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


def test_equal_rows_are_held_out_together_and_every_class_in_its_share():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 40, (400, 1)).astype(float)
    y = (X[:, 0] > 9).astype(int)  # a fourth of one class
    kept, y_kept, held = hold_out(X, y, random_state=0)
    assert len(kept) + len(held) == len(X)
    assert not set(kept[:, 0]) & set(held[:, 0])
    assert len(np.unique(held)) == 10
    assert np.sum(np.unique(held) > 9) in (7, 8)
    np.testing.assert_array_equal(y_kept, kept[:, 0] > 9)


def test_distinct_rows_are_split_as_by_scikit_learn():
    X, y = make_moons(101, noise=0.3, random_state=0)
    kept, y_kept, held = hold_out(X, y, random_state=3)
    expected = train_test_split(X, y, stratify=y, random_state=3)
    for ours, own in zip((kept, held, y_kept), expected, strict=False):
        np.testing.assert_array_equal(ours, own)


def test_rows_of_unknown_classes_are_held_out_as_well():
    rows = np.repeat(np.arange(9.0), 2)[:, None]
    kept, classes, held = hold_out(rows, None, random_state=0, share=0.5)
    assert classes is None
    assert (len(np.unique(kept)), len(np.unique(held))) == (4, 5)
    assert not set(kept[:, 0]) & set(held[:, 0])
    with pytest.raises(ValueError, match="1 distinct row"):
        hold_out(rows[:2], None, random_state=0)


def test_the_smallest_margin_is_the_last_before_one_fails():
    group = np.arange(1000)
    tried = []

    def differ_at(margin):
        tried.append(margin)
        return group < {4.0: 0, 2.0: 1, 1.0: 50, 0.0: 0}[margin]

    margin, promise = smallest_margin((4.0, 2.0, 1.0, 0.0), differ_at, group, 0.01, 0.95)
    assert (margin, promise.misses, promise.rate) == (2.0, 1, 0.01)
    assert tried == [4.0, 2.0, 1.0], "what comes after a failure would cost confidence"
    assert smallest_margin((1.0,), differ_at, group, 0.01, 0.95) is None


@pytest.mark.parametrize(("misses", "rows"), [(0, 50), (3, 50), (50, 50)])
def test_the_interval_is_that_of_clopper_and_pearson(misses, rows):
    low, high = interval(misses, rows, 0.9)
    assert high == pytest.approx(upper_bound(misses, rows, 0.95), rel=1e-12)
    assert low == pytest.approx(1.0 - upper_bound(rows - misses, rows, 0.95), rel=1e-9)
