"""Support vector tree: what the page shows, from the values of its controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

from kmviz.charts import Chart, svtree as charts
from kmviz.charts.plane import Plane
from kmviz.methods.study import Study
from kmviz.traces import TreeTrace
from kmviz.views.controls import parameters
from kmviz.views.fitted import MethodView, Shown
from kmviz.views.problem import Problem

#: What happens to the query at a height.
CUT = (
    "Cut at this height the tree says {answer}, {as_svm}: {output:#.3g} after {k} support "
    "vector{s}, and f(x) is {exact:#.3g}."
)
AGREES, DIFFERS = "as the exact SVM does", "the exact SVM says {name}"
#: What to notice on the map, and without one.
MAP = (
    "Queries within the same thin lines use the same support vectors: {n} region{s} at height "
    "{height}. Click a point to make it the query; numbers give the order of the vectors used."
)
POINTS = (
    "Colour is the tree's answer, the symbol the true class; the points of one node are ringed "
    "({n} region{s} at height {height}). Click a point to make it the query."
)
#: What to notice on the path.
PATH = (
    "A query goes left where the score is at most the threshold. The partial sum {signs} on the "
    "way and ends {left:.2g} from f(x).{refit} Click a node to see its region and training rows."
)
REFIT = " Each node weighs its whole path anew: its score is not what the sum grows by."
NEVER, ONCE, OFTEN = "never changes its sign", "changes its sign once", "changes its sign {n} times"
#: What to notice about heights.
HEIGHTS = (
    "At its best on these test rows (height {best}, {top:.1%}) the tree {close}, and it is "
    "{beside} the linear SVM; {rival}. From height {enough} on, {more}."
)
BELOW, ABOVE = "stays {gap:.1%} below the full SVM", "is above the full SVM"
REACHES = "reaches the full SVM"
LITTLE = "more kernel evaluations bring less than half a percent"
NOTHING = "more kernel evaluations bring nothing: the whole tree has {last:.1%}"
RIVAL_NEXT = "a reduced set of as many vectors is found next"
RIVAL_SAME = "a reduced set of as many vectors does as well"
RIVAL_APART = "a reduced set of as many vectors is {ahead:.1%} {side}"
NODE = "Node {node}: {n:,} training rows, {n_low:,} of {low} and {n_high:,} of {high}"

#: How high a tree grows whose path is fitted anew, and one that is taken back to a mean.
GROWN, TAKEN_BACK = 12, 20
#: Vectors of the reduced set beside the tree, at most.
MOST_REDUCED = 16
#: Heights up to which each has its place on the slider; then every second, then every fourth.
EACH, SECOND = 20, 40


def fitted_by(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the estimator that the controls choose."""
    names = ("split", "refit", "stem", "max_mean", "candidates")
    given = {n: value for n, value in parameters("svtree", values, *names).items() if value}
    if "max_mean" in given or given["refit"] == "path":
        given["max_height"] = TAKEN_BACK if "max_mean" in given else GROWN
    return {**given, "random_state": 0}


def highest(now: Shown) -> int:
    """Return the height of the tree."""
    return now.study.readings["max_height"][-1]


def positions(highest: int, here: int) -> tuple[int, ...]:
    """Return the heights at which the slider may stand; where it stands is among them."""
    found = {*range(1, EACH + 1), *range(EACH, SECOND + 1, 2), *range(SECOND, highest + 1, 4)}
    return tuple(sorted(h for h in {*found, highest, here} if h <= highest))


def vectors(at: MethodView) -> NDArray[Any]:
    """Return every vector that a node may ask, as rows of the data."""
    return at.now.problem.data_rows(at.now.study.classifier().tree_.vectors)


def nodes(now: Shown) -> pd.DataFrame:
    """Return the nodes of the whole tree as a table."""
    return now.study.classifier().tree_.to_frame()


def clicked(at: MethodView) -> int:
    """Return the node clicked, 0 where none was."""
    return min(at.values["node"], len(nodes(at.now)) - 1)


def map_chart(
    at: MethodView,
    whole: TreeTrace,
    heights: Sequence[int],
    node: int,
    study: Study,
    plane: Plane,
    spots: NDArray[Any],
    cells: tuple[NDArray, NDArray] | None,
) -> Chart:
    """Return what the tree makes of the plane at each height, a node's region marked.

    Parameters
    ----------
    whole : the query's path in the whole tree
    node : 0 is the query's leaf at each height
    study : of what is drawn: the cells of a map, or the training rows
    spots : where the vectors on that path are drawn
    cells : the axes of the map, if there is one
    """
    readings = [study.read(max_height=height) for height in heights]
    leaves = np.stack([reading.leaf for reading in readings])
    outputs = np.stack([reading.outputs for reading in readings])
    ends = whole.node[np.minimum(heights, whole.stop)]
    inside = np.stack([(r.path == (node or end)).any(axis=1) for r, end in zip(readings, ends)])
    seen = [spots[: min(height, whole.stop)] for height in heights]
    more = (seen, nodes(at.now), f"node {node}" if node else "its leaf", at.now.problem.query)
    if cells is None:
        return charts.tree_points(plane, leaves, outputs, inside, *more)
    shape = (-1, len(cells[1]), len(cells[0]))
    leaves, outputs, inside = (array.reshape(shape) for array in (leaves, outputs, inside))
    return charts.tree_map(plane, cells, leaves, outputs, inside, *more)


def numbers(now: Shown, heights: Sequence[int]) -> dict[str, Any]:
    """Return the figures under the slider, by height."""
    m, n, labels = now.problem.n_vectors, len(now.rows), now.problem.data.y_test[now.rows] > 0
    readings = [now.study.read(max_height=height) for height in heights]
    mean = [float(reading.steps.mean()) for reading in readings]
    right = [np.mean((reading.outputs > 0) == labels) for reading in readings]
    return {
        "Fewer kernel evaluations": [f"{m / max(k, 1e-9):.0f}x" for k in mean],
        "Disagreements": [f"{reading.disagreements:,} of {n:,}" for reading in readings],
        "Mean kernel values": [f"{k:.1f} of {m:,}" for k in mean],
        "Accuracy": [f"{share:.1%}" for share in right],
        "Full SVM": f"{1 - now.problem.test_error:.1%}",
        "Same answer": [f"{reading.agrees.mean():.1%}" for reading in readings],
    }


def sentence(now: Shown, whole: TreeTrace, height: int) -> str:
    """Say what happens to the query in the tree cut at a height."""
    names, k = now.problem.names, min(whole.stop, height)
    output, exact = float(whole.partial[k]), float(whole.exact)
    answer, name = (names[int(value > 0)] for value in (output, exact))
    as_svm = AGREES if answer == name else DIFFERS.format(name=name)
    found = {"answer": answer, "as_svm": as_svm, "output": output, "exact": exact}
    return CUT.format(k=k, s="s" * (k != 1), **found)


def curve(now: Shown) -> pd.DataFrame:
    """Return test accuracy and mean path at each height."""
    heights = now.study.readings["max_height"]
    frames = now.study.frames("max_height", heights)
    labels = now.problem.data.y_test[now.rows] > 0
    table = {
        "accuracy": ((frames.outputs > 0) == labels).mean(axis=1),
        "path_length": frames.steps.mean(axis=1),
    }
    return pd.DataFrame(table, index=pd.Index(heights, name="height"))


def rival(now: Shown, table: pd.DataFrame, reduced: Study) -> list[float]:
    """Return the accuracy of a reduced set of as many vectors as each height's mean path."""
    labels = now.problem.data.y_test[now.rows] > 0
    sizes = np.round(table["path_length"].to_numpy()).astype(int)
    sizes = np.clip(sizes, 1, reduced.readings["n_vectors"][-1])
    answers = {n: reduced.read(n_vectors=int(n)).outputs > 0 for n in np.unique(sizes)}
    return [float(np.mean(answers[n] == labels)) for n in sizes]


def linear(problem: Problem) -> float:
    """Return the test accuracy of a linear SVM."""
    data = problem.data
    found = LinearSVC(dual=False, max_iter=200).fit(data.X_train, data.y_train)
    return float(found.score(data.X_test, data.y_test))


def hint_map(problem: Problem, n: int, height: int) -> str:
    """Say what to notice on the map of so many regions."""
    text = MAP if problem.is_plane else POINTS
    return text.format(n=n, s="s" * (n != 1), height=height)


def hint_path(at: MethodView) -> str:
    """Say what to notice on the path."""
    sums = at.trace.partial[1:]
    turns = int(np.sum(np.diff(np.sign(sums)) != 0))
    signs = (NEVER, ONCE, OFTEN)[min(turns, 2)].format(n=turns)
    refit = REFIT if at.now.parameters["refit"] != "column" else ""
    return PATH.format(signs=signs, left=abs(sums[-1] - at.trace.exact), refit=refit)


def hint_heights(table: pd.DataFrame, linear: float, full: float) -> str:
    """Say how high the tree should be, beside other SVMs."""
    accuracy = table["accuracy"]
    best = int(accuracy.idxmax())
    top, last, ahead = accuracy[best], accuracy.iloc[-1], table["reduced"][best] - accuracy[best]
    close = ABOVE if top > full + 0.002 else REACHES if top >= full - 0.002 else BELOW
    rival = RIVAL_APART if abs(ahead) > 0.005 else RIVAL_SAME
    rival = RIVAL_NEXT if np.isnan(ahead) else rival
    rival = rival.format(ahead=abs(ahead), side="better" if ahead > 0 else "worse")
    beside = "above" if top > linear else "not above"
    enough = int(accuracy.index[accuracy >= top - 0.005][0])
    more = (NOTHING if last < top - 0.005 else LITTLE).format(last=last)
    words = {"close": close.format(gap=full - top), "beside": beside, "rival": rival, "more": more}
    return HEIGHTS.format(best=best, top=top, enough=enough, **words)


def path_table(trace: TreeTrace) -> pd.DataFrame:
    """Return the query's path as a table."""
    used = slice(1, None)
    score, threshold = trace.score[used], trace.threshold[used]
    step = np.arange(1, len(score) + 1)
    split = np.isfinite(threshold) & (step < trace.stop)
    return pd.DataFrame(
        {
            "step": step,
            "node": trace.node[used],
            "vector": trace.index[used],
            "kernel value": trace.value[used],
            "score": score,
            "threshold": np.where(split, threshold, np.nan),
            "goes": np.where(split, np.where(score <= threshold, "left", "right"), ""),
            "running sum": trace.partial[used],
        }
    )


def code(at: MethodView) -> str:
    """Return the lines that rebuild the tree and cut it."""
    height = at.choice["max_height"]
    return f"{at.now.code()}clf = clf.cut({height})  # at most {height} kernel values per query\n"
