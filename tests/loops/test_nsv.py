"""The compiled walk against its NumPy twin."""

import numpy as np
import pytest

from kmviz.kernels import RBF, Linear, Normalized, Polynomial, power
from kmviz.loops.kernel import POLYNOMIAL, RADIAL
from kmviz.loops.nsv_stages import BY_FILTER, BY_WALK
from kmviz.loops.nsv_walk import BUCKETS, deal, settle
from kmviz.machines import KernelMachine
from kmviz.methods.nsv.calibration import Part
from kmviz.methods.nsv.engine import NSVEngine
from kmviz.methods.nsv.layout import Options
from kmviz.methods.nsv.reference import decide_start, endless, unit_factor, walk, whole_walk
from kmviz.methods.nsv.stages import start_outputs

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(60, 6))
MACHINES = [
    KernelMachine(ROWS[:40], RNG.normal(size=40), 0.2, kernel)
    for kernel in (
        RBF(0.2),
        Polynomial(3),
        Polynomial(17, 0.1),
        Normalized(Polynomial(9)),
        Linear(),
    )
]


def reduced_kernel(e, x):
    """Return the kernel values of a query with the reduced vectors, as a function of which."""

    def values(begin, end):
        part = slice(1 + begin, 1 + end)
        dots = (e.rows[part] @ x + e.offsets[part]) * unit_factor(e, x)
        if e.kind == RADIAL:
            return np.exp(-e.gamma * np.maximum(x @ x + e.lengths[part] - 2 * dots, 0))
        base = np.asarray(e.gamma * dots + e.coef0, dtype=np.float64)
        return power(base, e.degree) if e.kind == POLYNOMIAL else base

    return values


def by_twin(engine, row, x, values):
    """What the NumPy twins answer to one row, as an input row and embedded."""
    start, own = engine.start, engine.input_rows(row[None])[0]
    *found, _ = decide_start(start, engine.limits, own, reduced_kernel(start, own))
    return found if found[2] != BY_WALK else walk(engine.tables, engine.limits, x, values)


def stopped(limits, evaluations, outputs, partial):
    """Stop recorded walks within limits: the twin of `kmviz.loops.nsv_walk.read`."""
    outside = (partial < limits.low) | (partial > limits.high)
    outside[:, 0], outside[:, -1] = False, True
    touched = outside.argmax(axis=1)
    output = np.take_along_axis(partial, touched[:, None], axis=1)[:, 0]
    touched = touched + evaluations[-1]
    stage = np.full(len(partial), BY_WALK)
    for s in reversed(range(len(limits.stage_low))):
        own = outputs[:, 1 + s]
        early = (own < limits.stage_low[s]) | (own > limits.stage_high[s])
        output[early], touched[early], stage[early] = own[early], evaluations[s], s
    own = outputs[:, 0]
    first = (own < limits.filter_low) | (own > limits.filter_high)
    output[first], touched[first], stage[first] = own[first], 0, BY_FILTER
    return output, touched, stage


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine.kernel).__name__)
@pytest.mark.parametrize("order", ["nearest", "tug_of_war", "exact"])
@pytest.mark.parametrize("start", ["empty", "approximate", "reduced"])
@pytest.mark.parametrize("linear", [None, (np.full(6, 0.3), 0.1)], ids=["", "filter"])
def test_the_walk_equals_its_twin(machine, order, start, linear):
    if linear is not None and isinstance(machine.kernel, Normalized):
        linear = (np.full(7, 0.3), 0.1)  # one column more once embedded
    options = Options(order, 3, start)
    engine = NSVEngine(machine, linear, options, [Part(machine, linear, ROWS)], 2, 0.0)
    output, steps = engine.run(ROWS)
    stages = engine.answers(ROWS).stage
    walks = engine.record(ROWS)
    plain = machine.kernel.plain
    for r, x in enumerate(engine.embed(ROWS)):
        values = plain(x[None], engine.tables.vectors)[0].__getitem__
        answered, touched, stage = by_twin(engine, ROWS[r], x, values)
        assert touched == steps[r] - 1
        assert stage == stages[r]
        assert output[r] == pytest.approx(answered, rel=1e-9, abs=1e-10)
        approached, partial, _, _ = whole_walk(engine.tables, x, values)
        own = engine.input_rows(ROWS[r : r + 1])[0]
        limits, kernel = endless(engine.tables), reduced_kernel(engine.start, own)
        outputs = np.concatenate([decide_start(engine.start, limits, own, kernel)[3], approached])
        np.testing.assert_allclose(walks.outputs[r], outputs, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(walks.partial[r], partial, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", [RBF(0.02), Polynomial(9, 0.1)], ids=["rbf", "polynomial"])
@pytest.mark.parametrize("start", ["empty", "approximate"])
def test_float32_tables_stay_near_the_twin(kernel, start):
    rows = RNG.normal(size=(700, 220)) / np.arange(1, 221) ** 0.5
    machine = KernelMachine(rows[:600], RNG.normal(size=600), 0.2, kernel)
    options = Options("nearest", 13, start)
    engine = NSVEngine(machine, None, options, [Part(machine, None, rows[600:650])], 2, 0.0)
    assert engine.tables.vectors.dtype == np.float32
    walks = engine.record(rows[650:])
    size = np.abs(machine.beta).sum() * np.abs(machine.kernel(rows[650:], rows[:600])).max()
    for r, x in enumerate(engine.embed(rows[650:])):
        values = machine.kernel(x[None], engine.tables.vectors)[0].__getitem__
        expected, walked, _, _ = whole_walk(engine.tables, x, values)
        np.testing.assert_allclose(walks.outputs[r, 1:], expected, rtol=0, atol=1e-6 * size)
        assert walks.partial[r, -1] == pytest.approx(walked[-1], rel=0, abs=1e-6 * size)


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine.kernel).__name__)
@pytest.mark.parametrize("start", ["empty", "approximate", "reduced"])
def test_recorded_walks_stop_where_answers_do(machine, start):
    linear = (np.full(7 if isinstance(machine.kernel, Normalized) else 6, 0.3), 0.1)
    parts, queries = [Part(machine, linear, ROWS)], RNG.normal(size=(131, 6))
    engine = NSVEngine(machine, linear, Options("nearest", 1, start), parts, 2, 0.0)
    walks, ends = engine.record(queries), set()
    for window, margin, filtered in ((0, 0.0, True), (2, 0.1, False), (9, 0.5, True)):
        other = engine.under(window, margin, filtered)
        if start != "empty":
            walks = other.record(queries)
        asked, read = other.answers(queries), other.read(walks)
        twin = stopped(other.limits, other.evaluations, walks.outputs, walks.partial)
        for name, expected in zip(("output", "touched", "stage"), twin, strict=True):
            np.testing.assert_array_equal(getattr(asked, name), getattr(read, name))
            np.testing.assert_array_equal(expected, getattr(read, name))
        ends |= set(zip(asked.touched, asked.stage, strict=True))
    assert len(ends) > (1 if start == "reduced" else 2)  # few vectors may say everything


@pytest.mark.parametrize("start", ["empty", "approximate", "reduced"])
def test_a_query_is_answered_alike_alone_and_among_others(start):
    machine, queries = MACHINES[3], RNG.normal(size=(203, 6))
    engine = NSVEngine(machine, None, Options(start=start), [Part(machine, None, ROWS)], 2, 0.0)
    output, steps = engine.run(queries)
    for one, (answered, counted) in enumerate(zip(output, steps, strict=True)):
        alone, count = engine.run(queries[one : one + 1])
        assert (alone[0], count[0]) == (answered, counted)
    np.testing.assert_array_equal(engine.run(queries[1:])[0], output[1:])


def test_scores_that_are_no_numbers_still_give_every_vector_once():
    score = np.array([1.0, np.inf, np.nan, -2.0, np.inf])
    order, ends = np.empty(5, np.int64), np.empty(BUCKETS, np.int64)
    deal(np.arange(5), score, order, ends)
    assert sorted(order) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "score",
    [
        RNG.normal(size=3000),
        RNG.pareto(0.5, size=3000),
        np.zeros(500),
        np.repeat([1.0, 2.0], 300),
        np.array([4.0]),
        np.array([]),
    ],
    ids=["normal", "heavy-tailed", "ties", "two values", "one", "none"],
)
def test_lazy_sort_equals_a_stable_sort(score):
    order, ends = np.empty(len(score), np.int64), np.empty(BUCKETS, np.int64)
    deal(np.arange(len(score)), score, order, ends)
    ready, bucket = 0, 0
    while ready < len(score):
        ready, bucket = settle(score, order, ends, bucket)
    np.testing.assert_array_equal(order, np.argsort(-score, kind="stable"))


@pytest.mark.parametrize(
    "kernel", [RBF(0.02), Normalized(Polynomial(9))], ids=["rbf", "normalised"]
)
def test_float32_stages_of_reduced_vectors_stay_near_the_twin(kernel):
    rows = RNG.normal(size=(210, 830)) / np.arange(1, 831) ** 0.5
    machine = KernelMachine(rows[:160], RNG.normal(size=160), 0.2, kernel)
    parts = [Part(machine, None, rows[160:])]
    engine = NSVEngine(machine, None, Options("nearest", 13, "reduced"), parts, 2, 0.0)
    start = engine.start_candidates
    assert start.rows.dtype == np.float32
    queries = engine.input_rows(rows[160:])
    assert queries.shape[1] == 830  # as they came, not embedded
    outputs = start_outputs(start, queries)[0]
    limits = endless(engine.candidates._replace(before=4))
    for found, x in zip(outputs, queries, strict=True):
        expected = decide_start(start, limits, x, reduced_kernel(start, x))[3]
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5 * np.abs(outputs).max())
