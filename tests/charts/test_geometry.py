"""Lines on a grid: on the level they follow, closed where they should be, between labels."""

import numpy as np
import pytest

from kmviz.charts.geometry import borders, contour

GRID = np.linspace(-2, 2, 41)
X, Y = np.meshgrid(GRID, GRID)


def split(lines):
    """The lines one by one."""
    gaps = np.flatnonzero(np.isnan(lines[:, 0]))
    return [part[~np.isnan(part[:, 0])] for part in np.split(lines, gaps)]


@pytest.mark.parametrize("radius", [0.5, 1.0, 1.7])
def test_a_circle_is_one_closed_line_on_its_level(radius):
    (ring,) = split(contour(np.hypot(X, Y) - radius, GRID, GRID))
    np.testing.assert_allclose(np.hypot(*ring.T), radius, atol=0.01)
    np.testing.assert_array_equal(ring[0], ring[-1])
    turn = np.unwrap(np.arctan2(ring[:, 1], ring[:, 0]))
    assert abs(turn[-1] - turn[0]) == pytest.approx(2 * np.pi)


def test_a_plane_is_one_line_from_edge_to_edge_at_any_level():
    (line,) = split(contour(X + 2 * Y, GRID, GRID, level=0.3))
    np.testing.assert_allclose(line @ [1, 2], 0.3)
    assert {abs(line[0, 1]), abs(line[-1, 1])} <= {2.0} or abs(line[0, 0]) == 2.0


def test_a_saddle_is_two_lines_that_do_not_cross():
    lines = split(contour([[1.0, -1.0], [-1.0, 2.0]], [0, 1], [0, 1]))
    assert [len(line) for line in lines] == [2, 2]
    low = next(line for line in lines if [0.5, 0.0] in line.tolist())
    assert [1.0, pytest.approx(1 / 3)] in low.tolist(), (
        "the middle is above: its corners are joined"
    )


def test_no_crossing_is_no_line_and_no_number_has_none_beside_it():
    assert contour(np.ones((3, 3)), [0, 1, 2], [0, 1, 2]).shape == (0, 2)
    values = X.copy()
    values[20:, :] = np.nan
    lines = contour(values, GRID, GRID)
    assert np.nanmax(lines[:, 1]) == pytest.approx(GRID[19])


def test_all_crossings_of_a_rough_surface_are_drawn_once():
    values = np.random.default_rng(0).normal(size=(30, 30))
    axis = np.arange(30.0)
    lines = np.concatenate(split(contour(values, axis, axis)))
    crossed = ((values[:, 1:] > 0) != (values[:, :-1] > 0)).sum()
    crossed += ((values[1:] > 0) != (values[:-1] > 0)).sum()
    assert len(np.unique(lines, axis=0)) == crossed


def test_borders_part_cells_of_different_labels_and_no_others():
    labels = (X > 0.04).astype(int) + 2 * (Y > 1.04)
    level, upright = split(borders(labels, GRID, GRID))
    np.testing.assert_allclose(level, [[-2.05, 1.05], [2.05, 1.05]])
    np.testing.assert_allclose(upright, [[0.05, -2.05], [0.05, 2.05]])
    assert borders(np.zeros((3, 3)), [0, 1, 2], [0, 1, 2]).size == 0
