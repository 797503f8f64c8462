"""What is tried, by category: a strategy that draws a case, and a check that it must pass.

A case is a plain dictionary, so that one line replays it: `python -m tests.fuzz '{...}'`.
"""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from numpy.linalg import LinAlgError
from sklearn.datasets import make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

import kmviz
from kmviz.datasets import DataError, read_table
from kmviz.io.storage import StorageError, dumps
from kmviz.kernels import diagonal
from kmviz.machines import KernelMachine
from kmviz.machines.named import NAMES, kernel_parameters, named_svc
from kmviz.methods.register import METHODS

Case = dict[str, Any]

#: Errors that say nothing to a user, though they are kinds of ValueError.
BARE = (LinAlgError, UnicodeError, json.JSONDecodeError)

#: Labels may differ where |f| is below so much of the largest |f|, and of what was summed: float32.
ROUNDING, SUMMED = 1e-4, 1e-6


class Category(NamedTuple):
    """A kind of trial."""

    draw: st.SearchStrategy[Case]
    check: Callable[[Case], None]


def said_in_words(error: BaseException) -> None:
    """Insist that an error is one that a user can read."""
    assert isinstance(error, ValueError | TypeError), f"{type(error).__name__}: {error}"
    assert not isinstance(error, BARE), f"{type(error).__name__}: {error}"
    assert len(str(error)) > 15, f"{type(error).__name__}: {error!r}"


# Degenerate data x kernels x methods

SHAPES = ("plain", "equal", "two_points", "constant_column", "one_of_a_class", "collinear",
          "far_from_0", "scales", "zeros", "nan", "infinite")  # fmt: skip
SCALES = (1.0, 1e-300, 1e-160, 1e-20, 1e-6, 1e6, 1e20, 1e100, 1e160, 1e300)

fits = st.fixed_dictionaries(
    {
        "method": st.sampled_from([method.name for method in METHODS]),
        "shape": st.sampled_from(SHAPES),
        "scale": st.sampled_from(SCALES) | st.just(1.0),
        "n": st.integers(4, 40),
        "d": st.integers(1, 5),
        "kernel": st.sampled_from(NAMES),
        "degree": st.integers(1, 12),
        "gamma": st.sampled_from(["scale", 1e-6, 0.5, 1e4]),
        "C": st.sampled_from([1e-3, 1.0, 10.0, 1e5]),
        "seed": st.integers(0, 999),
    }
)


def rows_of(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The training rows and labels of a case."""
    chance = np.random.default_rng(case["seed"])
    n, d, shape = case["n"], case["d"], case["shape"]
    X, y = chance.normal(size=(n, d)), np.arange(n) % 2
    if shape == "equal":
        X[:] = X[0]
    elif shape == "zeros":
        X[:] = 0.0
    elif shape == "two_points":
        X = X[y]
    elif shape == "constant_column":
        X[:, 0] = 3.0
    elif shape == "one_of_a_class":
        y = np.where(np.arange(n) == 0, 1, 0)
    elif shape == "collinear":
        X = X[:, :1] * np.arange(1, d + 1)
    elif shape == "far_from_0":
        X += 1e8
    elif shape == "scales":
        X *= 10.0 ** (3 * np.arange(d))
    elif shape in ("nan", "infinite"):
        X[n // 2, 0] = np.nan if shape == "nan" else np.inf
    with np.errstate(over="ignore", under="ignore"):
        return X * case["scale"], y


def check_fit(case: Case) -> None:
    """Refused in words, or finite, the same alone as in a batch, and true where that is proved."""
    X, y = rows_of(case)
    method = next(m for m in METHODS if m.name == case["method"])
    kernel = (case["kernel"], case["gamma"], case["degree"], 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            svc = None
            if method.takes_frozen:
                svc = named_svc(kernel[0], case["C"], *kernel[1:], max_iter=20_000).fit(X, y)
                clf = method.cls(FrozenEstimator(svc)).fit(X, y)
            else:
                clf = method.cls(C=case["C"], **kernel_parameters(*kernel)).fit(X, y)
            outputs, labels = clf.decision_function(X), clf.predict(X)
        except Exception as error:
            said_in_words(error)
            return
        alone = np.concatenate([clf.predict(x[None]) for x in X])
    assert np.isfinite(outputs).all(), "an output is no number"
    assert set(labels) <= set(y), "a label that no row has"
    clear = np.abs(outputs) > ROUNDING * np.abs(outputs).max() + SUMMED * _terms(clf, X)
    assert (alone == labels)[clear].all(), "alone another label than in a batch"
    if svc is not None and (method.certified or method.name == "exact"):
        own = svc.decision_function(X)
        if np.isfinite(own).all():
            clear = np.abs(own) > ROUNDING * np.abs(own).max() + SUMMED * _terms(clf, X)
            assert (labels == svc.predict(X))[clear].all(), "another label than the SVC's"


def _terms(clf: Any, X: np.ndarray) -> float:
    """What the terms of f add up to at most, all of one sign; 0 where it is no one sum."""
    machines = getattr(clf, "machines_", ())
    with np.errstate(all="ignore"):
        sums = [np.abs(m.beta).sum() * _largest(m, X) + abs(m.bias) for m in machines]
    return float(max(sums, default=0.0))


def _largest(machine: KernelMachine, X: np.ndarray) -> float:
    """The largest of the kernel's values, by its own diagonal."""
    rows = np.concatenate([X, machine.vectors]) if machine.n_features == X.shape[1] else X
    return float(np.abs(diagonal(machine.kernel, rows)).max())


# Broken files


@cache
def good_files() -> dict[str, bytes]:
    """Tables that are read, as they are changed."""
    frame = pd.DataFrame(
        {"a": np.linspace(0, 1, 24), "b": ["x", "y", "z"] * 8, "class": [0, 1] * 12}
    )
    made = {"csv": frame.to_csv(index=False).encode()}
    for name in ("parquet", "feather"):
        file = io.BytesIO()
        getattr(frame, f"to_{name}")(file)
        made[name] = file.getvalue()
    return made


files = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["csv", "parquet", "feather", "text"]),
        "cut": st.integers(0, 6_000),
        "at": st.integers(0, 6_000),
        "put": st.binary(max_size=24).map(bytes.hex),
        "over": st.booleans(),
        "text": st.text(st.sampled_from('0123456789.,;\t\n"\r eE-ab\x00é'), max_size=80),
    }
)


def check_file(case: Case) -> None:
    """Read into finite numbers, or refused in words."""
    if case["kind"] == "text":
        content = case["text"].encode()
    else:
        content = good_files()[case["kind"]]
        put, at = bytes.fromhex(case["put"]), case["at"] % (len(content) + 1)
        content = content[:at] + put + content[at + len(put) * case["over"] :]
        content = content[: max(len(content) - case["cut"] % 400 * (case["cut"] % 3 == 0), 0)]
    try:
        data = read_table(content)
    except DataError as error:
        said_in_words(error)
        return
    assert np.isfinite(data.X_train).all(), "a cell is no finite number"
    assert len(set(data.y_train)) >= 2


# Links

ODD = st.sampled_from(
    ["", " ", "nan", "-0.0", "inf", "1e999", "-1", "0", "2", "1e5", "null", "None", "true", "[]",
     "{}", "<b>", "%00", "../..", "spiral", "banana", "rbf", "scale", "3-8", "9" * 40]
)  # fmt: skip


def link_names() -> tuple[str, ...]:
    from kmviz.views.controls import CONTROLS

    return tuple(CONTROLS)


links = st.dictionaries(
    st.deferred(lambda: st.sampled_from(link_names())), ODD | st.text(max_size=9)
)


def check_link(case: Case) -> None:
    """A text is refused or stands for an allowed value, which is written as it is read."""
    from kmviz.views.controls import CONTROLS, read

    defaults = {name: control.default for name, control in CONTROLS.items()}
    values, refused = read(link_names(), case, defaults)
    for name, control in CONTROLS.items():
        value = values[name]
        assert control.allows(value), f"{name}={case.get(name)!r}"
        assert name not in refused or value == control.default
        text = control.text(value)
        again = control.default if text is None else control.parse(text)
        assert again == value or value == control.empty, f"{name}: {value!r} becomes {again!r}"


# Hostile models

WRONG: dict[str, Callable[[Any], Any]] = {
    "large": lambda a: np.full_like(a, 10**6),
    "negative": lambda a: -np.abs(a) - 7,
    "nan": lambda a: np.where(True, np.nan, a),
    "infinite": lambda a: np.where(True, np.inf, a),
    "shorter": lambda a: a[: len(a) // 2] if np.ndim(a) else a,
    "longer": lambda a: np.concatenate([a, a, a]) if np.ndim(a) else a,
    "flat": lambda a: np.ravel(a)[None, None],
    "text": lambda a: np.array(["x"] * max(1, np.size(a))),
    "none": lambda a: None,
    "zero": lambda a: np.zeros_like(a),
    "number": lambda a: np.ravel(a)[0].item(),
    "half": lambda a: np.asarray(a).astype(np.float16),
    "swapped": lambda a: np.asarray(a).astype(np.asarray(a).dtype.newbyteorder()),
}

models = st.fixed_dictionaries(
    {
        "model": st.sampled_from([*(method.name for method in METHODS), "svc", "pipeline"]),
        "place": st.integers(0, 10_000),
        "wrong": st.sampled_from(sorted(WRONG)),
        "element": st.integers(-1, 5),
    }
)
X_MODEL, Y_MODEL = make_moons(60, noise=0.2, random_state=0)


@cache
def stored(name: str) -> bytes:
    """A sound model."""
    if name == "svc":
        return dumps(SVC().fit(X_MODEL, Y_MODEL))
    if name == "pipeline":
        steps = (PolynomialFeatures(2), StandardScaler(), SVC())
        return dumps(make_pipeline(*steps).fit(X_MODEL, Y_MODEL))
    method = next(method for method in METHODS if method.name == name)
    return dumps(method.cls().fit(X_MODEL, Y_MODEL))


Put = Callable[[Any], None]


def places(thing: Any, put: Put, seen: set[int]) -> Iterator[tuple[Any, Put]]:
    """Every array and number of a model, with what puts another in its place."""
    if isinstance(thing, np.ndarray | float | int) and not isinstance(thing, bool):
        yield thing, put
    if id(thing) in seen or isinstance(thing, str | bytes | np.ndarray | float | int):
        return
    seen.add(id(thing))
    if isinstance(thing, list | tuple):
        for i, part in enumerate(thing):
            yield from places(part, partial(_put_part, thing, put, i), seen)
        return
    inside = thing if isinstance(thing, dict) else getattr(thing, "__dict__", {})
    for name, value in sorted(inside.items(), key=lambda item: str(item[0])):
        yield from places(value, partial(inside.__setitem__, name), seen)


def _put_part(whole: Any, put: Put, i: int, part: Any) -> None:
    """Put a part into a list or tuple, which may be one with names."""
    parts = [*whole[:i], part, *whole[i + 1 :]]
    put(type(whole)(*parts) if hasattr(whole, "_fields") else type(whole)(parts))


def check_model(case: Case) -> None:
    """Refused in words, or answered without a crash; what was touched may be wrong."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model = kmviz.load(stored(case["model"]))
        found = list(places(model, lambda _: None, set()))
        value, put = found[case["place"] % len(found)]
        value = np.array(value)
        try:
            if 0 <= case["element"] < value.size and value.dtype.kind in "iuf":
                changed = value.copy()
                one = np.asarray(WRONG[case["wrong"]](value.ravel()[:1]))
                changed.ravel()[case["element"]] = one.ravel()[0]
            else:
                changed = WRONG[case["wrong"]](value)
        except (ValueError, TypeError, OverflowError, IndexError):
            return  # no such value of this type
        put(changed if np.ndim(changed) else getattr(changed, "item", lambda: changed)())
        try:
            content = dumps(model)
        except Exception as error:
            said_in_words(error)
            return  # it could not even be written
        try:
            loaded = kmviz.load(content)
        except StorageError:
            return
        try:
            loaded.predict(X_MODEL)
        except Exception as error:
            said_in_words(error)


CATEGORIES = {
    "fits": Category(fits, check_fit),
    "files": Category(files, check_file),
    "links": Category(links, check_link),
    "models": Category(models, check_model),
}
