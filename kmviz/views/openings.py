"""What the choices are where a visitor made none.

A data set comes with the machine that suits it (`MACHINES`) and with a query that shows the point
(`QUERIES`), unless the URL says anything of machine or rows: then what it leaves out is what it
always was (C = 10, gamma `scale`, degree 3, query 0). A page opens with a view of its own where the
URL names no data set. What the URL says always holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

from kmviz import lessons
from kmviz.views.controls import CONTROLS, read
from kmviz.views.prepare import DEFAULT_PAIR

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


def lesson_view(url: Mapping[str, str], title: str) -> Mapping[str, str]:
    """Return the view that a URL names: that of a lesson's part where it names nothing else.

    Parameters
    ----------
    title : of the page that it opens
    """
    if url.get("lesson") not in lessons.names() or not set(url) <= set(LESSON):
        return url
    parts = lessons.load(url["lesson"]).parts
    number = read(("part",), url, {"part": None})[0]["part"] or 1
    part = parts[min(number, len(parts)) - 1]
    return {**part.view, **url} if part.page == title else url


def defaults(
    names: tuple[str, ...], url: Mapping[str, str], opening: Mapping[str, str]
) -> dict[str, Any]:
    """Return what choices are where a URL does not give them.

    Parameters
    ----------
    names : the choices of a page, shared ones included
    opening : the view that the page opens with, as the URL would write it
    """
    plain = {name: copy(CONTROLS[name].default) for name in names}
    refused = read(names, url, {})[1]
    given = url.keys() - refused.keys()
    view = dict(opening)
    if "data" in given:
        view = dict(MACHINES.get(url["data"], {}))
        usual = url.get("pair") in (None, DEFAULT_PAIR.get(url["data"]))
        if url["data"] in QUERIES and usual and not given & {*MACHINE, *ROWS}:
            view["query"] = str(QUERIES[url["data"]])
    if given & set(MACHINE):
        view = {name: text for name, text in view.items() if name not in MACHINE}
    return read(names, view, plain)[0]
