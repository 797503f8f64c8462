"""Every method's study: what is read again is what the classifier does, and what a fit would do."""

from __future__ import annotations

import inspect
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification, make_moons
from sklearn.svm import SVC

from kmviz import AnytimeClassifier, ReducedSetClassifier, SVTreeClassifier
from kmviz.methods import progress
from kmviz.methods.register import METHODS
from kmviz.methods.study import Study

#: Parameters that make a method small enough to be fitted many times.
SMALL = {
    "reduced": {"n_vectors": 6, "every_size": True},
    "falk": {"n_neighbors": 30},
    "knnsvm": {"n_neighbors": 20},
    "cpsp": {"n_vectors": 6},
}
#: Choices whose reading and whose fresh fit differ by design; the study's docstring says why.
DIFFERS_BY_DESIGN: dict[tuple[str, str], str] = {}

#: Further ways of a method that are read again otherwise: the method, and its parameters.
VARIANTS = {"nsv_reduced": ("nsv", {"start": "reduced"})}

by_name = pytest.mark.parametrize("name", [*(method.name for method in METHODS), *VARIANTS])


def battery():
    """Data sets: rows to fit, labels, queries."""
    moons = make_moons(130, noise=0.3, random_state=0)
    wide = make_classification(140, 20, n_informative=6, random_state=1)
    digits, labels = load_digits(return_X_y=True)
    pair = np.isin(labels, (3, 8))
    three = labels < 3
    return {
        "plane": (moons[0][:100], moons[1][:100], moons[0][100:]),
        "wide": (wide[0][:110], wide[1][:110], wide[0][110:]),
        "images": (digits[pair][:90] / 16, labels[pair][:90], digits[pair][90:120] / 16),
        "three": (digits[three][:120] / 16, labels[three][:120], digits[three][120:145] / 16),
    }


DATA = battery()
every_set = pytest.mark.parametrize("data", list(DATA))


def method_of(name):
    name = VARIANTS.get(name, (name, {}))[0]
    return next(method for method in METHODS if method.name == name)


def made(name):
    variant = VARIANTS.get(name, (name, {}))[1]
    method = method_of(name)
    clf = method.cls(**SMALL.get(name, {}), **variant)
    known = clf.get_params()
    if "estimator" in known:
        clf.set_params(estimator=SVC(C=10.0))
    return clf.set_params(random_state=0) if "random_state" in known else clf


@cache
def studied(name, data):
    X, y, queries = DATA[data]
    clf = made(name).fit(X, y)
    return clf, clf.study(queries)


def some(values):
    """The first, a middle and the last value of a choice."""
    values = list(values)
    return list(dict.fromkeys([values[0], values[len(values) // 2], values[-1]]))


def choices(study):
    return [(name, value) for name, known in study.readings.items() for value in some(known)]


@by_name
@every_set
def test_a_reading_is_what_its_classifier_does_bit_for_bit(name, data):
    clf, study = studied(name, data)
    queries = DATA[data][2]
    for choice in [{}] + [{n: v} for n, v in choices(study)]:
        reading, found = study.read(**choice), study.classifier(**choice)
        assert type(found) is type(clf)
        np.testing.assert_array_equal(
            reading.outputs, found.decision_function(queries), str(choice)
        )
        np.testing.assert_array_equal(reading.steps, found.steps(queries), str(choice))
        answers = found.classes_[found.winners(reading.exact)]
        np.testing.assert_array_equal(reading.agrees, found.predict(queries) == answers)
        assert reading.overhead == found.overhead_


@by_name
@every_set
def test_a_fresh_fit_gives_what_was_read(name, data):
    clf, study = studied(name, data)
    X, y, queries = DATA[data]
    for choice, value in choices(study):
        if (name, choice) in DIFFERS_BY_DESIGN:
            continue
        fresh = clone(clf).set_params(**{choice: value}).fit(X, y)
        reading = study.read(**{choice: value})
        np.testing.assert_array_equal(reading.steps, fresh.steps(queries), f"{choice}={value}")
        np.testing.assert_array_equal(
            reading.outputs, fresh.decision_function(queries), f"{choice}={value}"
        )


@pytest.mark.parametrize(
    ("cls", "choice", "parameters"),
    [
        (AnytimeClassifier, "max_steps", {"max_steps": "auto"}),
        (ReducedSetClassifier, "n_vectors", {"n_vectors": 0.1, "every_size": True}),
    ],
    ids=["anytime", "reduced"],
)
def test_pairs_of_different_sizes_are_read_as_far_as_a_fresh_fit_goes(cls, choice, parameters):
    X, y = make_classification(
        500, 5, n_informative=4, n_redundant=0, n_classes=4, n_clusters_per_class=1, flip_y=0.1,
        random_state=2,
    )  # fmt: skip
    clf = cls(SVC(C=2.0), random_state=0, **parameters).fit(X[:400], y[:400])
    study = clf.study(X[400:])
    last = study.readings[choice][-1]
    fresh = clone(clf).set_params(**{choice: last}).fit(X[:400], y[:400])
    np.testing.assert_array_equal(study.read(**{choice: last}).steps, fresh.steps(X[400:]))
    outputs = fresh.decision_function(X[400:])
    np.testing.assert_array_equal(study.read(**{choice: last}).outputs, outputs)
    np.testing.assert_array_equal(study.read().outputs, clf.decision_function(X[400:]))


@by_name
def test_reading_fits_nothing(name, monkeypatch):
    clf, study = studied(name, "plane")
    monkeypatch.setattr(SVC, "fit", lambda *a, **k: pytest.fail("an SVC was trained"))
    monkeypatch.setattr(type(clf), "fit", lambda *a, **k: pytest.fail("fit was called"))
    for choice, value in choices(study):
        study.read(**{choice: value})
        study.trace(0, **{choice: value})


@by_name
def test_a_study_changes_no_classifier(name):
    clf, study = studied(name, "plane")
    queries = DATA["plane"][2]
    before, steps = clf.decision_function(queries), clf.steps(queries)
    for choice, value in choices(study):
        study.classifier(**{choice: value}).decision_function(queries)
    np.testing.assert_array_equal(before, clf.decision_function(queries))
    np.testing.assert_array_equal(steps, clf.steps(queries))


@by_name
def test_frames_are_the_readings_stacked(name):
    _, study = studied(name, "plane")
    for choice, known in study.readings.items():
        values = some(known)
        frames = study.frames(choice, values)
        assert frames.name == choice
        assert frames.values == tuple(values)
        for place, value in enumerate(values):
            reading = study.read(**{choice: value})
            for field, array in reading.arrays().items():
                drawn = getattr(frames, field)[place][tuple(slice(0, n) for n in array.shape)]
                np.testing.assert_array_equal(drawn, array)
        assert not frames.steps.flags.writeable


@pytest.mark.parametrize(("name", "choice"), [("anytime", "max_steps"), ("nsv", "window")])
def test_a_reading_takes_its_place_among_frames_of_others(name, choice):
    _, study = studied(name, "plane")
    first, between, last = some(study.readings[choice])
    reading = study.read(**{choice: between})
    whole = study.frames(choice, (first, between, last))
    frames = study.frames(choice, (first, last)).among(between, reading)
    assert frames.values == whole.values
    for field, array in whole.arrays.items():
        np.testing.assert_array_equal(frames.arrays[field], array)
    assert not frames.steps.flags.writeable


@by_name
def test_a_trace_ends_where_the_reading_does(name):
    _, study = studied(name, "plane")
    for choice in [{}] + [{n: v} for n, v in choices(study)]:
        reading = study.read(**choice)
        for row in (0, 7):
            trace = study.trace(row, **choice)
            assert trace.output == pytest.approx(reading.outputs[row], rel=1e-5, abs=1e-6)
            assert trace.exact == pytest.approx(reading.exact[row], rel=1e-5, abs=1e-6)


@by_name
def test_records_cannot_be_written_to(name):
    clf, study = studied(name, "plane")
    queries = DATA["plane"][2]
    before = clf.steps(queries)
    for record in (study.trace(0), study.read()):
        for array in record.arrays().values():
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
    np.testing.assert_array_equal(before, clf.steps(queries))


@by_name
def test_a_choice_that_is_none_is_refused(name):
    _, study = studied(name, "plane")
    with pytest.raises(TypeError, match="has no choice 'colour'"):
        study.read(colour=1)
    for choice in study.readings:
        with pytest.raises(ValueError, match=f"{choice}="):
            study.read(**{choice: "nonsense"})


@by_name
def test_a_study_says_how_it_differs(name):
    method = method_of(name)
    doc = inspect.getdoc(method.cls.study_class) or ""
    assert issubclass(method.cls.study_class, Study)
    for known, choice in DIFFERS_BY_DESIGN:
        if known == name:
            assert choice in doc
            assert "fresh fit" in doc


def test_whoever_hears_of_frames_may_stop_them():
    X, y = make_moons(60, noise=0.2, random_state=0)
    study, heard = SVTreeClassifier(random_state=0).fit(X, y).study(X), []

    def listener(share, text):
        heard.append(text)
        if len(heard) == 3:
            raise progress.Cancelled

    with progress.listening(listener), pytest.raises(progress.Cancelled):
        study.frames("max_height", range(1, 9))
    assert heard == ["1 of 8", "2 of 8", "3 of 8"]
