"""The choices that all pages share, and what they are where a visitor made none.

A data set comes with the machine that suits it (`MACHINES`) and with a query that shows the point
(`QUERIES`), unless the URL says anything of machine or rows: then what it leaves out is what it
always was (C = 10, gamma `scale`, degree 3, query 0). A page opens with a view of its own where the
URL names no data set. What the URL says always holds.
"""

from __future__ import annotations

from collections.abc import Mapping

from kmviz import lessons
from kmviz.machines.named import NAMES
from kmviz.ui.params import Choice, Control, Drawn, Number, Param, Switch, Text
from kmviz.ui.prepare import DEFAULT_PAIR

KERNELS = {
    "linear": "linear",
    "poly": "polynomial",
    "rbf": "RBF (Gaussian)",
    "poly_normalized": "polynomial, normalised",
}
COSTS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
GAMMAS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0)

#: What each data set opens with, as the URL writes it, where that is not C = 10 and gamma `scale`:
#: chosen by cross-validation on training rows (`python -m benchmarks.defaults` makes it again).
MACHINES: dict[str, dict[str, str]] = {
    "banana": {"C": "1", "gamma": "1"},
    "two_moons": {"C": "100", "gamma": "2"},
    "two_spirals": {"C": "1", "gamma": "5"},
    "checkerboard": {"C": "100", "gamma": "5"},
    "sketch": {"C": "10", "gamma": "1"},
    "twonorm": {"C": "1", "gamma": "0.003"},
    "waveform": {"C": "1", "gamma": "0.01"},
    "haberman": {"C": "10", "gamma": "0.003"},
    "heart": {"C": "1", "gamma": "0.003"},
    "thyroid": {"C": "10", "gamma": "0.1"},
    "image": {"C": "10", "gamma": "0.3"},
    "german": {"C": "10", "gamma": "0.001"},
    "diabetis": {"C": "1", "gamma": "0.01"},
    "breast_cancer": {"C": "1", "gamma": "0.1"},
    "australian": {"C": "10", "gamma": "0.03"},
    "breast": {"C": "1", "gamma": "0.001"},
}

#: The query that each data set opens with, where that is not the first: the first that nearest
#: support vectors, as their page opens, answer rightly and in few steps, from `FEWEST` (so that
#: there is something to see) to a `SHARE` of the machine's (`python -m benchmarks.defaults`).
QUERIES: dict[str, int] = {
    "banana": 6,
    "two_moons": 695,
    "two_spirals": 726,
    "checkerboard": 177,
    "ndcc": 15,
    "ringnorm": 1,
    "twonorm": 114,
    "waveform": 24,
    "sonar": 35,
    "haberman": 29,
    "heart": 8,
    "thyroid": 4,
    "image": 24,
    "german": 250,
    "diabetis": 84,
    "breast_cancer": 1,
    "splice": 41,
    "tic_tac_toe": 3,
    "breast": 66,
    "digits": 9,
    "mnist": 62,
}
FEWEST, SHARE = 4, 0.2

#: The shared choices that say which machine, and on which rows.
MACHINE = ("kernel", "C", "gamma", "degree")
ROWS = ("n", "noise", "seed", "drawn")
#: And those that say how it is taught, by which lesson: no part of what is looked at.
LESSON = ("lesson", "part", "present")


def shared(data_names: tuple[str, ...]) -> dict[str, Control]:
    """Return the choices that all pages share, the data sets being these."""
    return {
        "data": Control("Data set", Choice(*data_names, default="banana")),
        "pair": Control("Two classes", Text()),
        "n": Control("Training rows", Number(None, 20, 20_000, whole=True)),
        "noise": Control("Noise", Number(None, 0.0, 200.0)),
        "drawn": Control("Drawing", Drawn()),
        "seed": Control("Seed", Number(0, 0, 9_999), help="Which sample or split."),
        "kernel": Control("Kernel", Choice(*NAMES, default="rbf"), KERNELS),
        "C": Control(
            "C", Number(10.0, 1e-3, 1e5), values=COSTS,
            help="The price of a training error: small gives a smooth boundary, large a detailed "
            "one.",
        ),
        "gamma": Control(
            "gamma", Number("scale", 1e-6, 1e4, whole=False), values=("scale", *GAMMAS),
            help="How fast similarity fades with distance. `scale` is 1 / (features x variance).",
        ),
        "degree": Control("Degree", Number(3, 1, 12)),
        "query": Control("Query", Number(0, 0, 10_000_000)),
        "lesson": Control("Lesson", Choice("", *lessons.names())),
        "part": Control("Part", Number(None, 1, 99, whole=True)),
        "present": Control("Present", Switch()),
    }  # fmt: skip


def led(url: Mapping[str, str], title: str) -> Mapping[str, str]:
    """Return what a URL says: one that says a part of a lesson alone says that part's view.

    Parameters
    ----------
    title : of the page that it opens
    """
    if url.get("lesson") not in lessons.names() or not set(url) <= set(LESSON):
        return url
    parts = lessons.load(url["lesson"]).parts
    number = Number(1, 1, 99, whole=True).read(url.get("part"))
    part = parts[min(int(number), len(parts)) - 1]
    return {**part.view, **url} if part.page == title else url


def opened(
    params: Mapping[str, Param], url: Mapping[str, str], opening: Mapping[str, str]
) -> dict[str, Param]:
    """Return the parameters with the defaults that hold for a URL.

    Parameters
    ----------
    params : all of a page, shared ones included
    opening : the view that the page opens with, as the URL would write it
    """

    def is_said(name: str) -> bool:
        return name in url and params[name].reads(url[name])

    texts = dict(opening)
    if is_said("data"):
        name = url["data"]
        texts = dict(MACHINES.get(name, {}))
        usual = url.get("pair") in (None, DEFAULT_PAIR.get(name))
        if name in QUERIES and usual and not any(map(is_said, MACHINE + ROWS)):
            texts["query"] = str(QUERIES[name])
    if any(map(is_said, MACHINE)):
        texts = {name: text for name, text in texts.items() if name not in MACHINE}
    return {
        name: param.opening_with(texts[name]) if name in texts else param
        for name, param in params.items()
    }
