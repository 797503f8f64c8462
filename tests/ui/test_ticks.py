"""Ticks of a live chart: round, few, within the range, and whole where the axis counts."""

from __future__ import annotations

import math

import pytest

from kmviz.ui.live.ticks import ticks, written


@pytest.mark.parametrize(
    ("low", "high"), [(-4.4, 4.6), (-0.9, 0.8), (3, 7), (0, 48), (-2.6, 2.4), (1e-7, 3e-7)]
)
def test_an_axis_of_a_third_of_the_page_says_its_scale(low, high):
    values = [value for value, _ in ticks(low, high, 4.5)]
    assert 2 <= len(values) <= 6
    assert all(low <= value <= high for value in values)
    assert f"{values[1] - values[0]:.0e}"[0] in "125"


@pytest.mark.parametrize(
    ("ends", "most", "words"),
    [
        ((0.9, 230), 4.5, ["1", "10", "100"]),
        ((1, 100), 7, ["1", "2", "5", "10", "20", "50", "100"]),
        ((1, 1e9), 4.5, ["1", "100", "10,000", "1,000,000", "100,000,000"]),
        ((230, 440), 4.5, ["250", "300", "350", "400"]),
    ],
)
def test_a_logarithmic_axis_has_powers_of_ten_or_round_numbers(ends, most, words):
    assert [word for _, word in ticks(*ends, most, log=True)] == words


def test_an_axis_that_counts_has_no_tick_between_two_whole_numbers():
    assert [word for _, word in ticks(-0.03, 1.05, 4.5, whole=True)] == ["0", "1"]
    assert len(ticks(-0.03, 1.05, 4.5)) > 2
    assert [word for _, word in ticks(0, 40, 4.5, whole=True)] == ["0", "10", "20", "30", "40"]


@pytest.mark.parametrize(
    "ends", [(1.0, 1.0), (math.nan, 1.0), (0.0, math.inf), (0.0, 1e-320), (-1e308, 1e308)]
)
def test_a_range_that_cannot_be_told_apart_has_no_ticks(ends):
    assert ticks(*ends, 4.5) == []


def test_numbers_are_written_as_plotly_writes_them():
    assert [written(v) for v in (-2.5, 0.0, -0.0, 12_345.6, 0.30000000000000004)] == [
        "−2.5", "0", "0", "12,346", "0.3",
    ]  # fmt: skip
