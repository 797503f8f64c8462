"""The encoder: the same columns for training rows and for later ones, and through JSON."""

import numpy as np
import pandas as pd
import pytest

from kmviz.datasets import DataError, TableEncoder

FRAME = pd.DataFrame(
    {
        "size": ["1", "2", "", "10"],
        "colour": ["red", "blue", "green", "red"],
        "old": ["true", "false", "true", "NA"],
        "class": ["b", "a", "b", "a"],
    },
    index=[2, 3, 4, 5],
)


def test_fit_by_hand():
    encoder = TableEncoder.fit(FRAME, "class")
    assert encoder.columns == ["size", "colour", "old"]
    assert encoder.categories == [[], ["blue", "green", "red"], ["false", "true"]]
    assert encoder.fills == [2.0, "red", "true"]
    assert encoder.classes == ["a", "b"]
    assert encoder.feature_names == (
        "size",
        "colour=blue",
        "colour=green",
        "colour=red",
        "old=true",
    )
    expected = [[1, 0, 0, 1, 1], [2, 1, 0, 0, 0], [2, 0, 1, 0, 1], [10, 0, 0, 1, 1]]
    np.testing.assert_array_equal(encoder.transform(FRAME), expected)
    np.testing.assert_array_equal(encoder.labels(FRAME), [1, -1, 1, -1])


def test_json_round_trip():
    encoder = TableEncoder.fit(FRAME, "class")
    again = TableEncoder.from_json(encoder.to_json())
    assert again == encoder
    np.testing.assert_array_equal(again.transform(FRAME), encoder.transform(FRAME))


def test_later_rows_in_another_order_without_a_class():
    encoder = TableEncoder.fit(FRAME, "class")
    later = FRAME[["old", "size", "colour"]].iloc[::-1]
    np.testing.assert_array_equal(encoder.transform(later), encoder.transform(FRAME)[::-1])


def test_unseen_category_counts_as_missing():
    encoder = TableEncoder.fit(FRAME, "class")
    later = FRAME.assign(colour="violet")
    np.testing.assert_array_equal(encoder.transform(later)[:, 1:4], [[0, 0, 1]] * 4)


def test_later_rows_that_do_not_fit_are_named():
    encoder = TableEncoder.fit(FRAME, "class")
    with pytest.raises(DataError, match="no column 'size'"):
        encoder.transform(FRAME.drop(columns="size"))
    with pytest.raises(DataError, match="Row 4 of column 'size' is 'wide'"):
        encoder.transform(FRAME.assign(size=["1", "2", "wide", "3"]))
    with pytest.raises(DataError, match="Row 3 of column 'size' is infinite"):
        encoder.transform(FRAME.assign(size=[1.0, np.inf, 2.0, 3.0]))
    with pytest.raises(DataError, match="Row 5 of column 'class' is none of a, b"):
        encoder.labels(FRAME.assign(**{"class": ["a", "b", "a", "c"]}))


def test_typed_columns_equal_text_columns():
    text = pd.DataFrame({"n": ["1", "2", "", "4"], "flag": ["True", "False"] * 2})
    typed = pd.DataFrame({"n": [1, 2, np.nan, 4], "flag": [True, False] * 2})
    nullable = pd.DataFrame({"n": pd.array([1, 2, None, 4], "Int64"), "flag": [True, False] * 2})
    encoder = TableEncoder.fit(text)
    for frame in (typed, nullable):
        assert TableEncoder.fit(frame) == encoder
        np.testing.assert_array_equal(encoder.transform(frame), encoder.transform(text))


def test_numeric_classes_sort_as_numbers():
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "y": [10.0, 9.0, 10.0, 2.5]})
    encoder = TableEncoder.fit(frame, "y")
    assert encoder.classes == ["2.5", "9", "10"]
    np.testing.assert_array_equal(encoder.labels(frame), [2, 1, 2, 0])


def test_numbers_among_categories_keep_their_names():
    """A later chunk that holds only the numbers of 1, 2, 3+ may come typed."""
    encoder = TableEncoder.fit(pd.DataFrame({"rooms": ["1", "2", "3+", "1"]}))
    expected = encoder.transform(pd.DataFrame({"rooms": ["2", "1"]}))
    np.testing.assert_array_equal(encoder.transform(pd.DataFrame({"rooms": [2, 1]})), expected)
    assert expected.tolist() == [[0, 1, 0], [1, 0, 0]]
