"""Strangers' models, tried where they can do no harm."""

import signal
import sys
from subprocess import CompletedProcess

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from kmviz.io import trial
from kmviz.io.storage import StorageError, dumps

X, y = make_moons(60, noise=0.2, random_state=0)
posix = pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")


def machine(vectors, columns):
    """An SVC of so many vectors, all zeros: a small file."""
    svc = SVC(gamma=1.0).fit(X, y)
    svc.support_vectors_ = np.zeros((vectors, columns))
    svc.support_ = np.arange(vectors, dtype=np.int32)
    svc.dual_coef_ = svc._dual_coef_ = np.ones((1, vectors))
    svc._n_support = np.array([vectors // 2, vectors - vectors // 2], dtype=np.int32)
    svc.shape_fit_, svc.n_features_in_ = (vectors, columns), columns
    return dumps(svc)


def test_a_model_that_answers_passes_and_one_that_is_refused_says_why():
    trial.refuse_harmful(dumps(SVC().fit(X, y)), "good.skops")
    with pytest.raises(StorageError, match=r"^other\.skops holds a SVC, which is not a trained"):
        trial.refuse_harmful(dumps(SVC()), "other.skops")


def test_a_model_whose_own_answers_are_not_its_machine_s_is_refused():
    svc = SVC(gamma=1.0).fit(X, y)
    svc._intercept_ = svc._intercept_ + 3.0  # what libsvm reads; `intercept_` stays
    with pytest.raises(StorageError, match="its own answers are not those"):
        trial.refuse_harmful(dumps(svc), "two.skops")


@posix
def test_a_model_that_takes_too_long_is_ended():
    with pytest.raises(StorageError, match=r"long\.skops is not taken.* more than 1 seconds\.$"):
        trial.refuse_harmful(machine(20_000, 800), "long.skops", seconds=1)


@posix
def test_a_model_that_takes_too_much_memory_is_ended():
    content = machine(20_000, 800)  # 128 MB of zeros
    assert len(content) < 2**20
    with pytest.raises(StorageError, match=r"^large\.skops .* more than 100 MB of memory\.$"):
        trial.refuse_harmful(content, "large.skops", megabytes=100)


@posix
def test_a_model_that_breaks_its_process_is_refused_in_words(monkeypatch):
    broken = CompletedProcess([], -signal.SIGSEGV, b"", b"")
    monkeypatch.setattr(trial.subprocess, "run", lambda *_, **__: broken)
    with pytest.raises(StorageError, match="it broke the process that tried it"):
        trial.refuse_harmful(b"PK", "broken.skops")


def test_a_clock_ends_a_child_that_does_nothing(monkeypatch):
    monkeypatch.setattr(trial, "PATIENCE", 0.1)
    with pytest.raises(StorageError, match="took more than 10 seconds"):
        trial.refuse_harmful(dumps(SVC().fit(X, y)), "idle.skops")
