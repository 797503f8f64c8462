"""What the Support vector tree page shows: a study of the test queries, in words and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

from kmviz.charts import Chart, svtree as charts
from kmviz.methods.study import Study
from kmviz.traces import TreeReading, TreeTrace
from kmviz.ui import two
from kmviz.ui.maps import CELLS
from kmviz.ui.plane import grid, on_plane, plane
from kmviz.ui.runtime.fitted import show, study_of
from kmviz.ui.runtime.jobs import Cache
from kmviz.ui.shell import url
from kmviz.views.controls import parameters
from kmviz.views.fitted import Shown
from kmviz.views.problem import Problem

OWN = ("height", "split", "refit", "stem", "mean", "candidates", "a", "node")
#: How high a tree grows whose path is fitted anew, and one that is taken back to a mean.
GROWN, TAKEN_BACK = 12, 20
#: Vectors of the reduced set beside the tree, at most.
MOST_REDUCED = 16

_curves = Cache("tree heights")


def shown(problem: Problem, said: Mapping[str, Any] = url.PRESENT) -> Shown:
    """Return the tree that the controls say, with its study."""
    names = ("split", "refit", "stem", "max_mean", "candidates")
    chosen = parameters("svtree", said, *names)
    given = {name: value for name, value in chosen.items() if value}  # 0: none
    if "max_mean" in given or given["refit"] == "path":
        given["max_height"] = TAKEN_BACK if "max_mean" in given else GROWN
    return show(problem, "svtree", {**given, "random_state": 0})


def side(problem: Problem, said: Mapping[str, Any]) -> two.Side:
    """Return what the page shows of the query under these choices."""
    now = shown(problem, said)
    height = min(said["height"], highest(now))
    record, clf = trace(now, height), now.study.classifier(max_height=height)
    picture = map_chart(now, record, [height], 0)
    return two.Side(now, now.study.read(max_height=height), clf, record, picture)


def asked(now: Shown, record: TreeTrace) -> NDArray[Any]:
    """Return the vectors on the query's path, as rows of the data."""
    return vectors(now)[record.index[1:]]


def vectors(now: Shown) -> NDArray[Any]:
    """Return every vector that a node may ask, as rows of the data."""
    return now.problem.data_rows(now.study.classifier().tree_.vectors)


def trained(now: Shown) -> Study:
    """Return the study of the training rows."""
    return study_of(now, now.problem.data.X_train, "training rows")


def highest(now: Shown) -> int:
    """Return the height of the tree."""
    return now.study.readings["max_height"][-1]


def trace(now: Shown, height: int) -> TreeTrace:
    """Return the record of the selected query."""
    return now.study.classifier(max_height=height).trace(now.problem.x)


def chosen(record: TreeTrace) -> int:
    """Return the node clicked, or else the one where the query ends."""
    return st.session_state["node"] or int(record.node[-1])


def nodes(now: Shown) -> pd.DataFrame:
    """Return the nodes of the whole tree as a table."""
    return now.study.classifier().tree_.to_frame()


def map_chart(now: Shown, record: TreeTrace, heights: Sequence[int], node: int) -> Chart:
    """Return what the tree makes of the plane at each height, a node's region marked.

    Parameters
    ----------
    node : 0 is the query's leaf at each height
    """
    problem, view = now.problem, plane(now.problem)
    study = study_of(now, grid(problem, CELLS)[2], "map") if problem.is_plane else trained(now)
    readings = [study.read(max_height=height) for height in heights]
    leaves = np.stack([reading.leaf for reading in readings])
    outputs = np.stack([reading.outputs for reading in readings])
    ends = record.node[np.minimum(heights, record.stop)]
    inside = np.stack([(r.path == (node or end)).any(axis=1) for r, end in zip(readings, ends)])
    spots = on_plane(problem, asked(now, record))
    seen = [spots[: min(height, record.stop)] for height in heights]
    more = (seen, nodes(now), f"node {node}" if node else "its leaf", problem.query)
    if not problem.is_plane:
        return charts.tree_points(view, leaves, outputs, inside, *more)
    x, y, _ = grid(problem, CELLS)
    leaves, outputs, inside = (a.reshape(-1, CELLS, CELLS) for a in (leaves, outputs, inside))
    return charts.tree_map(view, (x, y), leaves, outputs, inside, *more)


def images(now: Shown, record: TreeTrace) -> NDArray[Any]:
    """Return the vectors asked as images."""
    return asked(now, record).reshape(-1, *(now.problem.image_shape or ()))


def curves(now: Shown) -> pd.DataFrame:
    """Return test accuracy and mean path at each height, and a reduced set's at that price.

    The reduced set is found once the page is drawn; until then its accuracy is no number.
    """
    key = (now.problem.key, tuple(now.parameters.items()))
    table = _curves.get(key, lambda: _curve(now), "Reading every height")
    rival = _curves.later((*key, "reduced"), lambda: _rival(now, table), "A reduced set beside it")
    return table.assign(reduced=np.nan if rival is None else rival)


def _curve(now: Shown) -> pd.DataFrame:
    heights = now.study.readings["max_height"]
    frames = now.study.frames("max_height", heights)
    labels = now.problem.data.y_test[now.rows] > 0
    table = {
        "accuracy": ((frames.outputs > 0) == labels).mean(axis=1),
        "path_length": frames.steps.mean(axis=1),
    }
    return pd.DataFrame(table, index=pd.Index(heights, name="height"))


def _rival(now: Shown, table: pd.DataFrame) -> list[float]:
    """Return the accuracy of a reduced set of as many vectors as each height's mean path."""
    problem, length = now.problem, table["path_length"].to_numpy()
    labels = problem.data.y_test[now.rows] > 0
    most = int(min(MOST_REDUCED, problem.n_vectors, np.ceil(length.max())))
    reduced = show(problem, "reduced", {"n_vectors": most, "random_state": 0}).study
    sizes = np.clip(np.round(length).astype(int), 1, reduced.readings["n_vectors"][-1])
    answers = {n: reduced.read(n_vectors=int(n)).outputs > 0 for n in np.unique(sizes)}
    return [float(np.mean(answers[n] == labels)) for n in sizes]


def linear(problem: Problem) -> float:
    """Return the test accuracy of a linear SVM."""

    def score() -> float:
        data = problem.data
        found = LinearSVC(dual=False, max_iter=200).fit(data.X_train, data.y_train)
        return float(found.score(data.X_test, data.y_test))

    return _curves.get((problem.key, "linear"), score, "A linear SVM beside it")


def metrics(now: Shown, reading: TreeReading) -> list[tuple[str, str, str]]:
    """The page's figures."""
    problem, found = now.problem, now.figures(reading)
    m = problem.n_vectors
    return [
        (
            "Mean kernel values",
            f"{found['steps_mean']:.1f}",
            f"Of {m:,} that the exact machine takes.",
        ),
        ("Fewer by", f"{found['speedup']:.0f}x", "Support vectors over mean kernel values."),
        ("Accuracy", f"{found['accuracy']:.1%}", f"Full SVM {1 - problem.test_error:.1%}."),
        ("Same answer", f"{reading.agrees.mean():.1%}", "Test rows answered as the exact machine."),
    ]


def look_at_map(now: Shown, height: int) -> str:
    leaves = len(np.unique(trained(now).read(max_height=height).leaf))
    where = (
        "Colour is the tree's answer, deeper where it is surer. Within thin lines all queries ask "
        "the same support vectors; the lines follow the kernel around support vectors, not the axes"
        if now.problem.is_plane
        else "Colour is the tree's answer, deeper where it is surer; the symbol is the true class. "
        "The points of one node are ringed"
    )
    return (
        f"{where}: {leaves} region{'s' * (leaves != 1)} at height {height}. Click a point to make "
        "it the query: the numbers are the support vectors on its path, in the order they are "
        "asked."
    )


def look_at_path(record: TreeTrace, refit: str) -> str:
    sums = record.partial[1:]
    turns = int(np.sum(np.diff(np.sign(sums)) != 0))
    often = {0: "never changes its sign", 1: "changes its sign once"}
    signs = often.get(turns, f"changes its sign {turns} times")
    anew = " Each node weighs its whole path anew: its score is not what the sum grows by."
    return (
        f"Left where the score is at most the threshold, right above it. The running sum {signs} "
        f"on the way and ends {abs(sums[-1] - record.exact):.2g} from f(x)."
        f"{anew if refit != 'column' else ''} Click a node to see its region on the map and its "
        "training rows below."
    )


def look_at_heights(table: pd.DataFrame, linear: float, full: float) -> str:
    accuracy = table["accuracy"]
    best = int(accuracy.idxmax())
    top, last = accuracy[best], accuracy.iloc[-1]
    close = f"stays {full - top:.1%} below the full SVM"
    if top >= full - 0.002:
        close = "is above the full SVM" if top > full + 0.002 else "reaches the full SVM"
    beside = "above" if top > linear else "not above"
    enough = int(accuracy.index[accuracy >= top - 0.005][0])
    more = "more kernel values bring less than half a percent"
    if last < top - 0.005:
        more = f"more kernel values bring nothing: the whole tree has {last:.1%}"
    ahead = table["reduced"][best] - top
    rival = "a reduced set of as many vectors does as well"
    if np.isnan(ahead):
        rival = "a reduced set of as many vectors is found next"
    elif abs(ahead) > 0.005:
        rival = f"a reduced set of as many vectors is {abs(ahead):.1%} "
        rival += "better" if ahead > 0 else "worse"
    return (
        f"At its best on these test rows (height {best}, {top:.1%}) the tree {close}, and it is "
        f"{beside} the linear SVM; {rival}. From height {enough} on, {more}."
    )


def path_table(record: TreeTrace) -> pd.DataFrame:
    """Return the query's path as a table."""
    asked = slice(1, None)
    score, threshold = record.score[asked], record.threshold[asked]
    step = np.arange(1, len(score) + 1)
    split = np.isfinite(threshold) & (step < record.stop)
    return pd.DataFrame(
        {
            "step": step,
            "node": record.node[asked],
            "vector": record.index[asked],
            "kernel value": record.value[asked],
            "score": score,
            "threshold": np.where(split, threshold, np.nan),
            "goes": np.where(split, np.where(score <= threshold, "left", "right"), ""),
            "running sum": record.partial[asked],
        }
    )


def show_path(record: TreeTrace) -> None:
    """Draw the query's path as a table; kernel values may be tiny."""
    table = path_table(record)
    short = st.column_config.NumberColumn(format="%.4g")
    columns = table.columns[table.dtypes == np.float64]
    st.dataframe(
        table, hide_index=True, placeholder="", column_config=dict.fromkeys(columns, short)
    )


def node_card(now: Shown, node: int) -> None:
    """Draw the training rows of a node."""
    problem, data = now.problem, now.problem.data
    rows = np.flatnonzero((trained(now).read().path == node).any(axis=1))
    positive = int((data.y_train[rows] > 0).sum())
    low, high = problem.names
    with st.expander(
        f"Node {node}: {len(rows):,} training rows, {len(rows) - positive:,} of {low} and "
        f"{positive:,} of {high}",
        icon=":material/account_tree:",
    ):
        if problem.image_shape:
            first = [data.X_train[i].reshape(problem.image_shape) for i in rows[:16]]
            st.image(first, width=56, clamp=True)
            st.caption(f"The first {len(first)} of them.")
            return
        table = pd.DataFrame(data.X_train[rows[:200]], columns=list(data.feature_names))
        table.insert(0, "class", [data.class_names[int(v > 0)] for v in data.y_train[rows[:200]]])
        st.dataframe(table, hide_index=True, height=240)


def limit(now: Shown) -> None:
    """Keep height and node within this tree."""
    url.limit("height", 1, highest(now))
    url.limit("node", 0, len(nodes(now)) - 1)


def code(now: Shown, height: int) -> str:
    """The lines that rebuild the tree and cut it."""
    return f"{now.code()}clf = clf.cut({height})  # at most {height} kernel values per query\n"
