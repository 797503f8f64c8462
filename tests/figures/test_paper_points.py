"""Ours against theirs, by content."""

import numpy as np
import pandas as pd

from kmviz.figures import paper_points

FRAME = pd.DataFrame(
    {
        "data": ["a", "b", "c", "d"],
        "paper_error": [10.0, 20.0, 30.0, np.nan],
        "ours_error": [10.1, 10.0, 60.0, 5.0],
    }
)


def test_each_cell_that_both_have_is_a_point_of_its_verdict():
    figure = paper_points.diagonal(FRAME)
    line, *marks = figure.data
    assert list(line.x) == list(line.y)
    assert [mark.name for mark in marks] == ["as published", "better", "worse"]
    assert sum(len(mark.x) for mark in marks) == 3
    (better,) = (mark for mark in marks if mark.name == "better")
    assert (better.x[0], better.y[0]) == (20, 10)
    assert better.text[0] == "b, error"


def test_figures_far_apart_stand_on_logarithmic_axes():
    assert paper_points.diagonal(FRAME).layout.xaxis.type != "log"
    far = FRAME.assign(ours_error=[0.1, 20.0, 3000.0, 4.0])
    assert paper_points.diagonal(far).layout.xaxis.type == "log"
    negative = FRAME.assign(ours_error=[-1.0, 20.0, 3000.0, 4.0])
    assert paper_points.diagonal(negative).layout.xaxis.type != "log"


def test_too_few_cells_are_no_picture():
    assert paper_points.diagonal(FRAME[:2]) is None
    assert paper_points.diagonal(pd.DataFrame({"ours": [1.0, 2.0, 3.0]})) is None
