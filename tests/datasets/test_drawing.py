"""Drawings as texts: written, read back, refused."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kmviz import datasets
from kmviz.datasets.drawing import CELLS, LAST, MOST, Drawing, read_drawing, write_drawing

PLACE = st.tuples(st.integers(0, LAST), st.integers(0, LAST), st.sampled_from([-1, 1]))


def painted(cells):
    return Drawing(np.empty((0, 2), int), np.empty(0, int), cells)


@settings(max_examples=50)
@given(st.lists(PLACE, max_size=MOST))
def test_points_read_back_as_they_were_written(points):
    rows = np.array(points, dtype=int).reshape(-1, 3)
    text = write_drawing(Drawing(rows[:, :2], rows[:, 2]))
    assert len(text) == 3 * len(rows) + 1
    again = read_drawing(text)
    order = np.argsort(rows[:, 2], kind="stable")
    np.testing.assert_array_equal(again.places, rows[order, :2])
    np.testing.assert_array_equal(again.labels, rows[order, 2])


def test_a_painted_region_reads_back_as_it_was_painted():
    cells = np.random.default_rng(0).random((CELLS, CELLS)) < 0.5
    np.testing.assert_array_equal(read_drawing(write_drawing(painted(cells))).cells, cells)


@pytest.mark.parametrize(
    "text", ["x", "AAA", "AA.AAA", "AAA.AAA.AAA", "é" * 3 + ".", "~", "~" + "A" * 170,
             "~" + "A" * 170 + "B", "A" * 3 * (MOST + 1) + "."],
)  # fmt: skip
def test_what_is_no_drawing_is_refused(text):
    with pytest.raises(datasets.DataError):
        read_drawing(text)


@pytest.mark.parametrize(
    "text", [".", "AAABBBCCCDDD.", "AAA" * 9 + "." + "BBB" * 6, "ABCBCDCDEDEFEFG.ABCBCDCDEDEFEFG"]
)  # fmt: skip
def test_too_few_places_or_one_class_is_said(text):
    with pytest.raises(datasets.DataError, match="at least 5 points of each class"):
        datasets.load("sketch", drawn=text)


def test_every_point_drawn_is_a_training_row_and_the_queries_lie_around_them():
    data = datasets.load("sketch")
    assert len(data.y_train) == 120
    away = np.linalg.norm(data.X_test[:, None] - data.X_train[None], axis=2)
    assert away.min(axis=1).max() < 1
    again = datasets.load("sketch")
    np.testing.assert_array_equal(data.X_test, again.X_test)


def test_a_region_gives_as_many_points_as_asked_for_with_noise_in_training_only():
    cells = np.zeros((CELLS, CELLS), bool)
    cells[:, CELLS // 2 :] = True  # the right half
    text = write_drawing(painted(cells))
    clean, noisy = (datasets.load("sketch", drawn=text, n=300, noise=p) for p in (0.0, 0.2))
    assert len(clean.y_train) == 300
    np.testing.assert_array_equal(clean.y_train, np.where(clean.X_train[:, 0] >= 0, 1, -1))
    wrong = np.mean(noisy.y_train != np.where(noisy.X_train[:, 0] >= 0, 1, -1))
    assert 0.12 < wrong < 0.28
    np.testing.assert_array_equal(noisy.y_test, np.where(noisy.X_test[:, 0] >= 0, 1, -1))
