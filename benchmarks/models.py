"""Which fitted models `accelerate` takes, whether it answers as they do, and what it gains.

The models are what people have: scaled pipelines, searches, weights, names of columns, several
classes, sparse texts, and what only looks like a kernel machine. *Right* compares with the
model's own `predict` on rows that neither training nor `accelerate` saw: for a promise, with the
rate that was promised.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, OneClassSVM

import kmviz
from kmviz.evaluation.cost import batch_seconds, one_thread, single_seconds
from kmviz.kernels import RBF, Normalized, Polynomial
from kmviz.machines import KernelFisherClassifier

RATE = 0.02

Rows = tuple[Any, Any, Any]  # training rows, their classes, further rows


class Cautious(SVC):
    """An SVC with a rule of its own."""

    def predict(self, X: Any) -> Any:
        return self.classes_[(self.decision_function(X) > 0.5).astype(int)]


def two(n: int = 3_000, d: int = 20, **options: Any) -> Rows:
    """Two classes that overlap."""
    X, y = make_classification(
        n, n_features=d, n_informative=min(d, 8), flip_y=0.05, random_state=0, **options
    )
    X = X * np.logspace(-1, 2, d) + 10.0
    return X[: n // 3], y[: n // 3], X[n // 3 :]


def named() -> Rows:
    """The same as a frame."""
    X, y, more = two()
    columns = [f"column{i}" for i in range(X.shape[1])]
    return pd.DataFrame(X, columns=columns), y, pd.DataFrame(more, columns=columns)


def mixed() -> Rows:
    """A frame with a column of words and holes in another."""
    X, y, more = named()
    for frame in (X, more):
        frame["word"] = np.where(frame["column1"] > 10.0, "high", "low")
        frame.loc[frame.index[::17], "column2"] = np.nan
    return X, y, more


def many() -> Rows:
    """Six classes with ties."""
    X, y = make_classification(
        4_000, n_features=20, n_informative=12, n_classes=6, n_clusters_per_class=2,
        random_state=1, flip_y=0.1,
    )  # fmt: skip
    return X[:1_200], y[:1_200], X[1_200:]


def digits() -> Rows:
    X, y = load_digits(return_X_y=True)
    return X[:700], y[:700], X[700:]


def small(load: Callable[..., Any]) -> Rows:
    """A small set, with rows enough by small changes."""
    X, y = load(return_X_y=True)
    rng = np.random.default_rng(0)
    more = np.vstack([X + 0.05 * X.std(axis=0) * rng.normal(size=X.shape) for _ in range(6)])
    return X, y, more


def texts() -> Rows:
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(3_000)])
    topic = np.arange(1_500) % 3
    bags = [rng.choice(words[600 * t : 600 * t + 1_500], size=40) for t in topic]
    written = [" ".join(bag) for bag in bags]
    return written[:500], topic[:500], written[500:]


def scaled(machine: Any) -> Any:
    return make_pipeline(StandardScaler(), machine)


def by_class(names: list[Any]) -> Callable[[], Rows]:
    def rows() -> Rows:
        X, y, more = two()
        return X, np.array(names)[y], more

    return rows


def weighted(model: Any, rows: Rows) -> Any:
    X, y, _ = rows
    return model.fit(X, y, sample_weight=np.linspace(0.2, 3.0, len(y)))


#: Name: the model, its rows, and how it is fitted if not by `fit(X, y)`.
MODELS: dict[str, tuple[Any, Callable[[], Rows], Any]] = {
    "SVC, rbf": (SVC(), two, None),
    "SVC, C = 100": (SVC(C=100), two, None),
    "SVC, linear": (SVC(kernel="linear", C=0.01, max_iter=100_000), lambda: two(900), None),
    "SVC, poly": (scaled(SVC(kernel="poly")), two, None),
    "SVC, poly, coef0 = 1": (scaled(SVC(kernel="poly", degree=2, coef0=1.0)), two, None),
    "SVC, sigmoid": (scaled(SVC(kernel="sigmoid")), two, None),
    "SVC, precomputed": (SVC(kernel="precomputed"), lambda: _gram(two()), None),
    "SVC, kernel of kmviz": (scaled(SVC(kernel=RBF(0.1))), two, None),
    "SVC, normalised kernel": (scaled(SVC(kernel=Normalized(Polynomial(3)))), two, None),
    "SVC, kernel of one's own": (scaled(SVC(kernel=rbf_kernel)), lambda: two(1_500), None),
    "NuSVC": (scaled(NuSVC(nu=0.3)), two, None),
    "LinearSVC": (scaled(LinearSVC()), two, None),
    "LinearSVC, several classes": (scaled(LinearSVC()), many, None),
    "KernelFisherClassifier": (scaled(KernelFisherClassifier()), lambda: two(1_500), None),
    "StandardScaler + SVC": (scaled(SVC()), two, None),
    "MinMaxScaler + SVC": (make_pipeline(MinMaxScaler(), SVC()), two, None),
    "MaxAbsScaler + RobustScaler + SVC": (
        make_pipeline(MaxAbsScaler(), RobustScaler(), SVC()), two, None),
    "StandardScaler + PCA + SVC": (make_pipeline(StandardScaler(), PCA(8), SVC()), two, None),
    "PCA(whiten) + SVC": (make_pipeline(PCA(8, whiten=True), SVC()), two, None),
    "QuantileTransformer + SVC": (
        make_pipeline(QuantileTransformer(n_quantiles=100), SVC()), two, None),
    "SelectKBest + SVC": (make_pipeline(StandardScaler(), SelectKBest(k=8), SVC()), two, None),
    "SimpleImputer + StandardScaler + SVC": (
        make_pipeline(SimpleImputer(), StandardScaler(), SVC()), two, None),
    "nested pipeline": (make_pipeline(MinMaxScaler(), scaled(SVC())), two, None),
    "pipeline of transformers in a pipeline": (
        make_pipeline(make_pipeline(MinMaxScaler(), StandardScaler()), SVC()), two, None),
    "FrozenEstimator(pipeline)": (scaled(SVC()), two, "frozen"),
    "GridSearchCV": (GridSearchCV(SVC(), {"C": [1, 10]}, cv=2), two, None),
    "GridSearchCV(pipeline)": (GridSearchCV(scaled(SVC()), {"svc__C": [1, 10]}, cv=2), two, None),
    "RandomizedSearchCV": (
        RandomizedSearchCV(scaled(SVC()), {"svc__C": [1, 3, 10]}, n_iter=2, cv=2, random_state=0),
        two, None),
    "frame with names": (SVC(), named, None),
    "frame with names, scaled": (scaled(SVC()), named, None),
    "frame of words and holes": (
        make_pipeline(
            make_column_transformer(
                (OneHotEncoder(), ["word"]), (SimpleImputer(), ["column2"]),
                remainder=StandardScaler()),
            StandardScaler(), SVC()),
        mixed, None),
    "classes are words": (scaled(SVC()), by_class(["no", "yes"]), None),
    "classes are booleans": (scaled(SVC()), by_class([False, True]), None),
    "class_weight": (scaled(SVC(class_weight={0: 1.0, 1: 9.0})), two, None),
    "class_weight, balanced": (
        scaled(SVC(class_weight="balanced")), lambda: two(weights=[0.9]), None),
    "sample_weight": (SVC(), two, weighted),
    "digits, ten classes": (SVC(), digits, None),
    "digits, scaled": (scaled(SVC(C=10)), digits, None),
    "six classes with ties": (SVC(), many, None),
    "six classes, break_ties": (SVC(break_ties=True), many, None),
    "six classes, ovo": (SVC(decision_function_shape="ovo"), many, None),
    "wine": (scaled(SVC()), lambda: small(load_wine), None),
    "breast cancer": (scaled(SVC()), lambda: small(load_breast_cancer), None),
    "TF-IDF + SVC": (make_pipeline(TfidfVectorizer(), SVC()), texts, None),
    "TF-IDF + linear SVC": (make_pipeline(TfidfVectorizer(), SVC(kernel="linear")), texts, None),
    "subclass with its own predict": (Cautious(), two, None),
    "FixedThresholdClassifier": (
        FixedThresholdClassifier(SVC(), threshold=0.3, response_method="decision_function"),
        two, None),
    "CalibratedClassifierCV": (CalibratedClassifierCV(SVC(), ensemble=False, cv=2), two, None),
    "OneVsRestClassifier": (OneVsRestClassifier(SVC()), lambda: small(load_wine), None),
    "BaggingClassifier": (BaggingClassifier(SVC(), n_estimators=3, random_state=0), two, None),
    "SVR": (SVR(), two, None),
    "OneClassSVM": (OneClassSVM(), two, None),
    "KernelRidge": (KernelRidge(kernel="rbf"), lambda: two(900), None),
}  # fmt: skip


def _gram(rows: Rows) -> Rows:
    X, y, more = rows
    return rbf_kernel(X, gamma=1e-4), y, rbf_kernel(more, X, gamma=1e-4)


#: What a quick run tries: one of each kind. All of them take minutes.
FEW = ("SVC, rbf", "StandardScaler + SVC", "GridSearchCV(pipeline)", "frame with names",
       "digits, ten classes", "TF-IDF + SVC", "subclass with its own predict", "BaggingClassifier",
       "SVR", "KernelRidge")  # fmt: skip


def tables(quick: bool) -> dict[str, Callable[[], pd.DataFrame]]:
    """Return the table of all models, or in a quick run that of a few."""
    if quick:
        return {"models_few": lambda: models(FEW, 1)}
    return {"models": lambda: models(MODELS, 3)}


def models(names: Iterable[str], repeats: int) -> pd.DataFrame:
    """Return a row for each model."""
    return pd.DataFrame([tried(name, repeats) for name in names]).set_index("model")


def tried(name: str, repeats: int) -> dict[str, Any]:
    """Fit one model, hand it over, and compare on rows that nothing has seen."""
    model, rows, how = MODELS[name]
    X, y, more = rows()
    half = len(more) // 2 if hasattr(more, "__len__") else more.shape[0] // 2
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = how(model, (X, y, more)) if callable(how) else model.fit(X, y)
        if how == "frozen":
            fitted = FrozenEstimator(fitted)
        try:
            fast = kmviz.accelerate(fitted, more[:half], max_disagreement=RATE)
        except (TypeError, ValueError) as error:
            return {"model": name, "taken": "no", "why": str(error).split(". ")[0].split("\n")[0]}
        rest = more[half:]
        off = fast.promise_.tolerance
        answers, own = fast.predict(rest), fitted.predict(rest)
        differ = int(np.sum(answers != own if off is None else np.abs(answers - own) > off))
        took = fast.promise_.faster is not None
        return {
            "model": name, "taken": "yes" if took else "as it is",
            "method": type(fast).__name__, "queries": len(own), "differ": differ,
            "promised": fast.promise_.rate,
            "right": bool(differ <= fast.promise_.rate * len(own)),
            "batch_ratio": batch_seconds(fitted.predict, rest, repeats)
            / batch_seconds(fast.predict, rest, repeats),
            "single_ratio": single_seconds(fitted.predict, rest, repeats)
            / single_seconds(fast.predict, rest, repeats),
        }  # fmt: skip


if __name__ == "__main__":
    with pd.option_context("display.max_rows", 100, "display.width", 200):
        print(models(MODELS, 1))
