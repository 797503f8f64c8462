"""Charts of the anytime bounds: what is drawn is what the records say."""

from dataclasses import replace

import numpy as np
import pytest

from kmviz.charts import Band, Points, Rule, anytime
from kmviz.traces import AnytimeReading, AnytimeTrace, Closing
from tests.charts.renderers import assert_alike


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


def named(chart, name):
    return next(one for one in chart.layers if getattr(one, "name", "").startswith(name))


def rules(chart):
    return [one for one in chart.layers if isinstance(one, Rule)]


def test_bounds_draw_the_interval_up_to_each_step(record):
    steps = [1, 5, 30]
    chart = anytime.bounds(record, steps, 3)
    top = chart.y.range[1]
    for position, step in enumerate(steps):
        now = chart.at(position)
        drawn = [one for one in now.layers if isinstance(one, Band)]
        for band in drawn:
            np.testing.assert_allclose(
                band.low, np.clip(record.lower[band.x], -2 * top, 2 * top), rtol=1e-6
            )
            np.testing.assert_allclose(
                band.high, np.clip(record.upper[band.x], -2 * top, 2 * top), rtol=1e-6
            )
        assert max(np.append(*(band.x for band in drawn))) == min(step, 40)
        assert (len(drawn[1].x) > 0) == (step >= 20), "certain from the stop on"
        known = named(now, "known now")
        assert list(known.x) == [step, step]
        exact, stop = rules(now)
        assert exact.y == pytest.approx(1.1)
        assert np.isnan(stop.x) == (step < 20)
        assert stop.text == "sign certain at 20"
    assert_alike(chart, 3)


def test_both_residuals_are_drawn_as_shares(record):
    chart = anytime.residuals(record)
    np.testing.assert_allclose(named(chart, "left of W").y, np.ones(41))
    np.testing.assert_allclose(named(chart, "left of the query").y, np.sqrt(record.residual_sq))
    assert_alike(chart, 1)


def test_a_query_that_needed_the_exact_sum_is_not_called_certain(record):
    undecided = replace(record, upper=record.partial + 9.0, lower=record.partial - 9.0, stop=40)
    chart = anytime.bounds(undecided, [40])
    assert "exact sum" in rules(chart)[1].text
    assert len(chart.at(0).layers[1].x) == 0, "no band says that the sign is certain"


def test_long_traces_are_thinned():
    kept = anytime._thinned(50_000)
    assert len(kept) <= anytime.MOST_STEPS
    assert kept[0] == 0
    assert kept[-1] == 49_999


def test_orderings_have_a_line_for_each_order_in_both_charts():
    records = {
        name: Closing(np.linspace(9, 1, 30) / i, np.linspace(0, 1, 30))
        for i, name in enumerate(("min_wz", "given", "spectral"), start=1)
    }
    widths, shares = anytime.orderings(records, "given")
    for chart in (widths, shares):
        assert [line.name for line in chart.layers] == ["min_wz", "given", "spectral"]
        assert len({(line.color, line.dashed) for line in chart.layers}) == 3
        assert_alike(chart, 1)
    np.testing.assert_allclose(widths.layers[1].y, records["given"].width)
    np.testing.assert_allclose(shares.layers[1].y, records["given"].decided)
    assert widths.layers[1].width > widths.layers[0].width


def test_orders_that_are_not_compared_yet_have_charts_without_lines():
    for chart in anytime.orderings({}, "given"):
        assert chart.layers == []
        assert_alike(chart, 1)


def test_steps_keep_the_query_and_light_up_what_is_decided():
    outputs = np.array([-2.0, -0.1, 0.3, 1.5])
    costs = np.array([3, 20, 15, 4])
    every = np.ones(4, dtype=bool)
    reading = AnytimeReading(outputs, costs, every, outputs, 0.0, outputs, outputs, every)
    called = np.array([0, 10, 20, 30])
    chart = anytime.steps(reading, reading, called, 20, 30)
    points = next(one for one in chart.layers if isinstance(one, Points))
    np.testing.assert_array_equal(points.y, costs)
    np.testing.assert_array_equal(points.id, called)
    assert points.picked == 20
    assert points.group.tolist() == [1, 1, 1, 1]
    assert rules(chart)[1].text == "all 30 support vectors"
    assert_alike(chart, 1)
