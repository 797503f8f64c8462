"""Charts of the anytime bounds: what is drawn is what the records say."""

from dataclasses import replace

import numpy as np
import pytest

from kmviz.figures import anytime
from kmviz.traces import AnytimeReading, AnytimeTrace, Closing


@pytest.fixture
def record():
    k = np.arange(41.0)
    gap = 8.0 * 0.9**k
    partial = np.where(k < 3, -0.2, 1.0)
    return AnytimeTrace(
        exact=1.1, output=1.0, stop=20, partial=partial, gap=gap, lower=partial - gap,
        upper=partial + gap, residual_sq=0.9 ** (2 * k), w_rest=8.0 * np.ones(41),
        q_coords=np.zeros(41), value=np.zeros(41), index=np.arange(-1, 40),
    )  # fmt: skip


def named(figure, name):
    return next(t for t in figure.data if t.name.startswith(name))


def test_bounds_draw_the_interval_and_the_exact_value(record):
    figure = anytime.bounds(record, step=5)
    np.testing.assert_allclose(named(figure, "upper").y, record.upper, rtol=1e-6)
    np.testing.assert_allclose(named(figure, "interval").y, record.lower, rtol=1e-6)
    np.testing.assert_allclose(named(figure, "f<sub>k").y, record.partial, rtol=1e-6)
    assert set(named(figure, "exact f(x)").y) == {np.float32(1.1)}
    known = named(figure, "known after 5")
    assert list(known.x) == [5, 5]
    np.testing.assert_allclose(known.y, [record.lower[5], record.upper[5]], rtol=1e-6)
    assert "certain at k = 20" in figure.layout.annotations[0].text
    assert figure.layout.shapes[1].x0 == 20


def test_bounds_draw_both_residuals_as_shares(record):
    figure = anytime.bounds(record, step=0)
    np.testing.assert_allclose(named(figure, "left of the machine").y, np.ones(41))
    np.testing.assert_allclose(
        named(figure, "left of the query").y, np.sqrt(record.residual_sq), rtol=1e-6
    )
    assert all(len(t.x) == len(t.y) for t in figure.data)


def test_a_query_that_needed_the_exact_sum_is_not_called_certain(record):
    undecided = replace(record, upper=record.partial + 9.0, lower=record.partial - 9.0, stop=40)
    assert "exact sum" in anytime.bounds(undecided, 3).layout.annotations[0].text


def test_arrays_on_their_way_to_the_browser_are_light(record):
    for trace in anytime.bounds(record, 5).data:
        assert trace.y.dtype == np.float32


def test_long_traces_are_thinned():
    assert len(anytime._thinned(50_000)) <= anytime.MOST_STEPS
    kept = anytime._thinned(50_000)
    assert kept[0] == 0
    assert kept[-1] == 49_999


def test_orderings_draw_two_lines_an_order():
    records = {
        name: Closing(np.linspace(9, 1, 30) / i, np.linspace(0, 1, 30))
        for i, name in enumerate(("min_wz", "given", "spectral"), start=1)
    }
    figure = anytime.orderings(records, "given")
    assert [t.name for t in figure.data] == ["min_wz"] * 2 + ["given"] * 2 + ["spectral"] * 2
    np.testing.assert_allclose(figure.data[2].y, records["given"].width, rtol=1e-6)
    np.testing.assert_allclose(figure.data[3].y, records["given"].decided, rtol=1e-6)
    assert figure.data[2].line.width > figure.data[0].line.width
    assert len({(t.line.color, t.line.dash) for t in figure.data}) == 3


def test_steps_keep_the_query_as_customdata():
    outputs = np.array([-2.0, -0.1, 0.3, 1.5])
    costs, labels = np.array([3, 20, 15, 4]), np.array([-1, -1, 1, 1])
    every = np.ones(4, dtype=bool)
    reading = AnytimeReading(outputs, costs, every, outputs, 0.0, outputs, outputs, every)
    called = np.array([0, 10, 20, 30])
    figure = anytime.steps(reading, called, labels, ("no", "yes"), (0.3, 15), 30)
    rows = np.concatenate([t.customdata for t in figure.data if t.customdata is not None])
    assert sorted(rows) == [0, 10, 20, 30]
    (star,) = (t for t in figure.data if len(t.y) == 1 and t.customdata is None)
    assert (star.x[0], star.y[0]) == (np.float32(0.3), 15)
    histogram = figure.data[-1]
    assert histogram.type == "histogram"
    np.testing.assert_array_equal(histogram.y, costs)


def test_less_than_a_decade_of_widths_has_ticks_of_its_own():
    flat = Closing(np.linspace(47.0, 20.0, 50), np.zeros(50))
    figure = anytime.orderings({"given": flat}, "given")
    assert figure.layout.yaxis.nticks > 2
    assert figure.layout.yaxis2.range[0] > -0.1, "no share below nothing"
