"""The cost model: ratios within one run."""

import itertools

import numpy as np
import pytest

from kmviz.evaluation.cost import cpu_seconds, step_summary, timing_table
from kmviz.loops import threads
from kmviz.methods.promise import Promise, interval, rows_needed, upper_bound


def test_more_work_takes_more_time():
    a = np.random.default_rng(0).normal(size=(300, 300))
    assert cpu_seconds(lambda: a @ a @ a @ a @ a @ a) > cpu_seconds(lambda: a[:30] @ a)


def test_table_compares_with_its_first_row():
    X = np.ones((40, 200))
    limits = []

    def slow(rows):
        limits.append(threads.n_threads())
        return [np.linalg.norm(rows @ rows.T) for _ in range(50)]

    table = timing_table({"slow": slow, "fast": lambda rows: rows[:, 0]}, X, repeats=2)
    assert table.loc["slow", ["batch_ratio", "single_ratio"]].tolist() == [1.0, 1.0]
    assert (table.loc["fast", ["batch_ratio", "single_ratio"]] > 1).all()
    assert set(limits) == {1}
    np.testing.assert_allclose(
        table["batch_ratio"] * table["batch_us"], table.loc["slow", "batch_us"]
    )


def test_table_takes_its_times_from_the_clock_that_it_is_given():
    X, now, asked = np.ones((40, 2)), itertools.count(), []  # each timing lasts a second

    def decide(rows):
        asked.append(len(rows))
        return rows[:, 0]

    table = timing_table({"way": decide}, X, 1, n_queries=5, at_least=0.5, clock=now.__next__)
    assert table.loc["way", ["batch_us", "single_us"]].tolist() == [1e6 / 40, 1e6 / 5]
    assert asked == [40] * 2 + [1] * 10


def test_short_calls_are_repeated_until_a_timing_is_long_enough():
    now = [0.0]

    def call():
        now[0] += 0.001

    assert cpu_seconds(call, 1, 0.02, lambda: now[0]) == pytest.approx(0.001)
    assert now[0] == pytest.approx(0.001 * (1 + 1 + 24))  # untimed, too short, long enough


def test_honest_speedup_counts_the_overhead():
    summary = step_summary([1, 2, 3, 10], m=100, overhead=16.0)
    assert summary == {
        "steps_mean": 4.0,
        "steps_median": 2.5,
        "speedup": 25.0,
        "honest_speedup": 5.0,
    }


def test_rows_needed_prove_the_rate_and_one_fewer_does_not():
    for rate in (0.01, 0.001):
        n = rows_needed(rate)
        assert upper_bound(0, n) <= rate < upper_bound(0, n - 1)


def test_bounds_at_the_ends():
    assert upper_bound(5, 5) == 1.0
    assert interval(0, 10)[0] == 0.0
    low, high = interval(3, 100)
    assert low < 0.03 < high
    assert high == pytest.approx(0.0852, abs=1e-3)  # the textbook's Clopper-Pearson


def test_promise_reads_as_a_sentence():
    assert "0 of 2995" in str(Promise(0.001, 0.95, 2995))
    assert "certified" in str(Promise(0.0, 1.0, 0))
