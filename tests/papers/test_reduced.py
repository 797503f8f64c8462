"""The tables of the reduced set's paper, as far as they are quick."""

import numpy as np
import pytest
from kmviz.papers.reduced_digits import (
    COST,
    KERNEL,
    _trained,
    build,
    prepared,
    resized,
    together,
    unit_length,
)
from sklearn.svm import SVC

from kmviz import datasets
from kmviz.machines import KernelMachine
from kmviz.methods.progress import listening, report
from kmviz.papers import reduced, reduced_digits


def ours(frame, measure):
    return frame.set_index("measure").loc[measure, "ours"]


def test_banana_reaches_its_distances():
    heard = []
    frame = reduced.banana(progress=lambda share, text: heard.append(text))
    assert {"measure", "paper", "ours", "data"} <= set(frame)
    assert ours(frame, "joint, 20 vectors: rho") <= 0.02
    assert ours(frame, "joint, 10 vectors: rho") <= 0.2
    assert ours(frame, "selection, 10 vectors: rho") > 2 * ours(frame, "joint, 10 vectors: rho")
    own = ours(frame, frame["measure"][0])
    assert ours(frame, "joint, 20 vectors: error %") == pytest.approx(own, abs=0.1)
    assert any("rho" in text for text in heard)


def test_a_listener_further_out_hears_too():
    heard = []
    with listening(lambda share, text: heard.append(text)):
        frame = reduced.optimizers(progress=report)
    assert ours(frame, "banana, 20 vectors, L-BFGS-B: rho") < 0.04
    assert any("rho" in text for text in heard)


@pytest.fixture(scope="module")
def digits():
    data = datasets.load("mnist", pair=(3, 8), n=600)
    return unit_length(data.X_train), data.y_train == 8, data


def test_a_system_gets_better_then_smaller(digits):
    X, y, data = digits
    system = build(X, y, unit_length(data.X_test))
    assert system.vsv.n_vectors > system.orig.n_vectors > 10 * system.rs.n_vectors
    wrong = {name: np.sum((f > 0) != (data.y_test == 8)) for name, f in system.f_test.items()}
    assert wrong["vsv"] < wrong["orig"]
    assert 0.3 < system.rho < 1.0
    larger = resized(system, 2 * system.rs.n_vectors, X, y, unit_length(data.X_test))
    assert larger.rs.n_vectors == 2 * system.rs.n_vectors
    assert larger.rho < system.rho
    assert larger.vsv is system.vsv
    np.testing.assert_allclose(
        system.f_test["rs"][:5], system.rs.decision_function(unit_length(data.X_test[:5])),
        atol=1e-3,
    )  # fmt: skip


def test_systems_share_their_vectors_at_no_further_cost():
    data = datasets.load("mnist", n=500)
    X, X_test = (
        unit_length(data.X_train),
        unit_length(data.X_test[:200]),
    )
    systems = tuple(build(X, data.y_train == digit, X_test) for digit in (0, 3, 8))
    ten = together(systems, X_test)
    assert ten.f_shared.shape == (3, 200)
    for machine, outputs in zip(ten.shared, ten.f_shared, strict=True):
        assert machine.n_vectors == sum(system.rs.n_vectors for system in systems)
        np.testing.assert_allclose(outputs, machine.decision_function(X_test), atol=1e-3)
    assert np.all(ten.shared_rho <= [system.rho + 1e-4 for system in systems])


def test_how_digits_come():
    digits = datasets.load("mnist").X_train[:20]
    as_they_are, upright = (prepared(digits, way) for way in (False, True))
    for rows in (as_they_are, upright):
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, rtol=1e-6)
    assert not np.allclose(as_they_are, upright, atol=0.05)


def test_training_in_chunks_ends_where_training_at_once_does(digits, monkeypatch):
    X, y, _ = digits
    monkeypatch.setattr(reduced_digits, "CHUNKS_FROM", 300)
    monkeypatch.setattr(reduced_digits, "QUICK_DIGITS", 200)
    chunked = KernelMachine.from_estimator(_trained(X, y))
    whole = KernelMachine.from_estimator(SVC(kernel=KERNEL, C=COST).fit(X, y))
    np.testing.assert_allclose(chunked.decision_function(X), whole.decision_function(X), atol=0.02)


def test_every_table_is_listed():
    tables = [
        "table_1",
        "table_2",
        "table_3",
        "size",
        "straightened",
        "pair",
        "banana",
        "optimizers",
        "tuned",
    ]
    assert list(reduced.TABLES) == tables
    assert all(callable(table) for table in reduced.TABLES.values())
