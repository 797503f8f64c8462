"""Cost against output: every query once, where it belongs."""

import numpy as np

from kmviz.figures.effort import effort


def test_every_query_is_drawn_once_with_its_row_and_cost():
    rng = np.random.default_rng(1)
    outputs, costs = rng.normal(size=60), rng.integers(1, 9, size=60)
    labels = np.where(rng.random(60) > 0.5, 1, -1)
    figure = effort(outputs, costs, labels, ("no", "yes"))
    rows = np.concatenate([t.customdata for t in figure.data])
    assert sorted(rows) == list(range(60))
    for trace in figure.data:
        np.testing.assert_allclose(trace.x, outputs[trace.customdata], rtol=1e-6)
        np.testing.assert_array_equal(trace.y, costs[trace.customdata])


def test_wrong_answers_have_a_trace_of_their_own():
    figure = effort([1.0, -1.0, 2.0], [5, 5, 5], [1, -1, -1], ("no", "yes"))
    names = {t.name: list(t.customdata) for t in figure.data}
    assert names == {"no": [1], "yes": [0], "answered wrongly": [2]}
    assert len({t.marker.symbol for t in figure.data}) == 3


def test_the_query_and_the_full_price_are_marked():
    figure = effort([1.0, -1.0], [3, 4], [1, -1], ("no", "yes"), query=1, n_vectors=10)
    mark = figure.data[-1]
    assert (mark.x[0], mark.y[0]) == (-1.0, 4.0)
    assert "all 10 support vectors" in {a.text for a in figure.layout.annotations}


def test_many_queries_use_webgl_and_very_many_are_a_stated_sample():
    n = 60_000
    figure = effort(np.linspace(-1, 1, n), np.ones(n), np.ones(n), ("no", "yes"))
    assert {t.type for t in figure.data} == {"scattergl"}
    assert sum(len(t.x) for t in figure.data) == 50_000
    assert "sample of 50,000 of 60,000" in figure.layout.title.text


def test_a_line_far_above_is_pointed_at_and_flattens_nothing():
    outputs, costs = np.array([-1.0, 1.0]), np.array([3, 9])
    figure = effort(outputs, costs, np.array([-1, 1]), ("no", "yes"), n_vectors=900)
    assert figure.layout.yaxis.range[1] < 20
    assert figure.layout.annotations[0].text == "↑ all 900 support vectors"


def test_a_note_stands_beside_the_line_at_zero_where_there_is_more_room():
    for outputs, side in (([-1.0, 3.0], "left"), ([-3.0, 1.0], "right")):
        (note,) = effort(outputs, [3, 4], [1, -1], ("no", "yes"), note="Here.").layout.annotations
        assert (note.x, note.xanchor) == (0, side)
        assert note.xshift * (1 if side == "left" else -1) > 0, "the line does not cross it"
