"""What the Support vector tree page reads: a grown tree, the paths through it, cut at a height."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.svm import LinearSVC

from kmviz.figures.svtree import Partition
from kmviz.methods.svtree import SVTree, SVTreeClassifier
from kmviz.traces import TreeTrace
from kmviz.ui import parts, state
from kmviz.ui.params import Choice, Number
from kmviz.ui.plane import grid, plane
from kmviz.ui.problem import Problem

SPLITS = {
    "alternating": "alternating (the paper's)",
    "exact": "exact: the best of all",
}
FITS = {
    "column": "column by column (the paper's)",
    "path": "whole path, at each node",
}
OWN = {
    "height": Number(10, 1, 64),
    "split": Choice(*SPLITS),
    "refit": Choice(*FITS),
    "node": Number(0, 0, 1_000_000),
}
_REGIONS = Path(__file__).with_name("regions.js")
OPTIONS: dict[str, dict[str, Any]] = {"column": {}, "path": {"stem": 0.25, "max_height": 12}}


@dataclass(frozen=True, eq=False)
class Reading:
    """A grown tree and every path the page may cut.

    Attributes
    ----------
    nodes : frame
        The tree as a table.
    tests, trains, cells : arrays of shape (rows, height)
        Nodes on the paths of test rows, training rows and grid cells; -1 past a path's end.
    outputs, cell_outputs : arrays of shape (rows, height + 1)
        Column k: the output of the tree cut at height k.
    curves : frame
        Test accuracy and mean path length at each height.
    linear : float
        Test accuracy of a linear SVM.
    """

    classifier: SVTreeClassifier
    nodes: pd.DataFrame
    tests: NDArray[np.int32]
    trains: NDArray[np.int32]
    cells: NDArray[np.int32] | None
    outputs: NDArray[np.float32]
    cell_outputs: NDArray[np.float32] | None
    curves: pd.DataFrame
    linear: float

    @property
    def tree(self) -> SVTree:
        return self.classifier.tree_

    @property
    def height(self) -> int:
        return self.tests.shape[1]


def read(problem: Problem, split: str, refit: str) -> Reading:
    """Return the tree and its paths, from the cache where they are there."""
    return _read(problem.key, split, refit, problem)


def trace(problem: Problem, reading: Reading) -> TreeTrace:
    """Return the record of the selected query."""
    record = reading.classifier.trace(problem.x)
    assert isinstance(record, TreeTrace)
    return record


def chosen(record: TreeTrace, height: int) -> int:
    """Return the node clicked, or else the one where the query ends."""
    return st.session_state["node"] or int(record.node[min(height, record.stop)])


def partition(problem: Problem, reading: Reading, record: TreeTrace, height: int) -> Partition:
    """Return what the tree, cut at `height`, makes of the plane."""
    view, node = plane(problem), chosen(record, height)
    paths = reading.trains if reading.cells is None else reading.cells
    leaf, output, region = _last(paths, height), None, (paths[:, :height] == node).any(axis=1)
    if reading.cell_outputs is not None and view.values is not None:
        shape = view.values.shape
        leaf, region = leaf.reshape(shape), region.reshape(shape)
        output = reading.cell_outputs[:, height].reshape(shape)
    asked = view.vectors[record.index[1 : height + 1]]
    return Partition(leaf, output, region, asked, f"region of node {node}")


def images(problem: Problem, record: TreeTrace) -> NDArray[Any] | None:
    """Return the vectors asked as images, if they are images."""
    if not problem.image_shape:
        return None
    return problem.machine.vectors[record.index[1:]].reshape(-1, *problem.image_shape)


def metrics(problem: Problem, reading: Reading, height: int) -> list[tuple[str, str, str]]:
    """The page's figures."""
    at = reading.curves.loc[height]
    same = np.mean((reading.outputs[:, height] > 0) == (problem.exact > 0))
    m = problem.n_vectors
    return [
        ("Mean kernel values", f"{at.path_length:.1f}", f"Of {m:,} that the exact machine takes."),
        ("Fewer by", f"{m / at.path_length:.0f}x", "Support vectors over mean kernel values."),
        ("Accuracy", f"{at.accuracy:.1%}", f"Full SVM {1 - problem.test_error:.1%}."),
        ("Same answer", f"{same:.1%}", "Test rows answered as the exact machine answers."),
    ]


def sentence(problem: Problem, record: TreeTrace, height: int) -> str:
    """Say what happened to the query."""
    k = min(height, record.stop)
    names = problem.names
    answer, exact = names[int(record.partial[k] > 0)], names[int(record.exact > 0)]
    agrees = "as the exact machine does" if answer == exact else f"the exact machine says {exact}"
    return (
        f"**Query {problem.query}** (★) asked **{k} support vectors** of {problem.n_vectors:,} and "
        f"came to {record.partial[k]:.3g}; the exact f(x) is {record.exact:.3g}. The tree says "
        f"**{answer}**, {agrees}."
    )


def look_at_map(problem: Problem, reading: Reading, height: int) -> str:
    leaves = len(np.unique(_last(reading.trains, height)))
    where = (
        "Each patch of colour is a region whose queries ask the same support vectors. Its borders "
        "follow the kernel around support vectors, not the axes"
        if problem.is_plane
        else "Each leaf's points have one colour and symbol (six of them, in turn), and ask the "
        "same support vectors; those of one node are ringed"
    )
    return (
        f"{where}: {leaves} regions at height {height}. Point anywhere, or at a node of the tree "
        "below, to see its region. Click a point to make it the query: the numbers are the support "
        "vectors on its path, in the order they are asked."
    )


def look_at_path(record: TreeTrace, height: int, refit: str) -> str:
    last = min(height, record.stop)
    sums = record.partial[1 : last + 1]
    turns = int(np.sum(np.diff(np.sign(sums)) != 0))
    often = {0: "never changes its sign", 1: "changes its sign once"}
    signs = often.get(turns, f"changes its sign {turns} times")
    anew = " Each node weighs its whole path anew: its score is not what the sum grows by."
    return (
        f"Left where the score is at most the threshold, right above it. The running sum {signs} "
        f"on the way and ends {abs(sums[-1] - record.exact):.2g} from f(x)."
        f"{anew if refit == 'path' else ''} Click a node to see its region on the map and its "
        "training rows below."
    )


def look_at_heights(problem: Problem, reading: Reading) -> str:
    accuracy, full = reading.curves["accuracy"], 1 - problem.test_error
    best = int(accuracy.idxmax())
    top, last = accuracy[best], accuracy.iloc[-1]
    close = f"stays {full - top:.1%} below the full SVM"
    if top >= full - 0.002:
        close = "is above the full SVM" if top > full + 0.002 else "reaches the full SVM"
    linear = "above" if top > reading.linear else "not above"
    enough = int(accuracy.index[accuracy >= top - 0.005][0])
    more = "more kernel values bring less than half a percent"
    if last < top - 0.005:
        more = f"more kernel values bring nothing: the whole tree has {last:.1%}"
    return (
        f"At its best (height {best}, {top:.1%}) the tree {close}, and it is {linear} the linear "
        f"SVM. From height {enough} on, {more}."
    )


def path_table(record: TreeTrace, height: int) -> pd.DataFrame:
    """Return the query's path as a table."""
    asked = slice(1, height + 1)
    score, threshold = record.score[asked], record.threshold[asked]
    step = np.arange(1, len(score) + 1)
    split = np.isfinite(threshold) & (step < min(record.stop, height))
    return pd.DataFrame(
        {
            "step": step,
            "node": record.node[asked],
            "support vector": record.index[asked],
            "kernel value": record.value[asked],
            "score": score,
            "threshold": np.where(split, threshold, np.nan),
            "goes": np.where(split, np.where(score <= threshold, "left", "right"), ""),
            "running sum": record.partial[asked],
        }
    )


def show_path(record: TreeTrace, height: int) -> None:
    """Draw the query's path as a table; kernel values may be tiny."""
    table = path_table(record, height)
    short = st.column_config.NumberColumn(format="%.4g")
    columns = table.columns[table.dtypes == np.float64]
    st.dataframe(
        table, hide_index=True, placeholder="", column_config=dict.fromkeys(columns, short)
    )


def choose_query() -> None:
    """Callback: the point clicked on the map is the query, and its leaf the node to look at."""
    query = parts.clicked("tree_map")
    if query is not None:
        state.put(query=query, node=0)


def choose_node() -> None:
    """Callback: the node clicked in the tree is the one to look at."""
    node = parts.clicked("tree_path")
    if node is not None:
        state.put(node=node)


def highlight_regions() -> None:
    """Let the map show the region of the leaf, or of the node of the tree, under the pointer.

    Streamlit's sanitiser drops a script that holds what looks like a tag.
    """
    st.html(f"<script>{_REGIONS.read_text()}</script>", unsafe_allow_javascript=True)


def node_card(problem: Problem, reading: Reading, node: int) -> None:
    """Draw the training rows of a node."""
    data = problem.data
    rows = np.flatnonzero((reading.trains == node).any(axis=1))
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


def limit(reading: Reading) -> None:
    """Keep height and node within this tree."""
    state.limit("height", 1, reading.height)
    state.limit("node", 0, reading.tree.n_nodes - 1)


def estimator(problem: Problem, reading: Reading, height: int) -> bytes:
    """The classifier, cut at this height, as a .skops file."""
    return problem.packed(reading.classifier.cut(height))


def code(problem: Problem, split: str, refit: str, height: int) -> str:
    """The lines that rebuild the tree."""
    options = {"split": split, "refit": refit, **OPTIONS[refit], "random_state": 0}
    words = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return problem.code + (
        "from sklearn.frozen import FrozenEstimator\n"
        "from kmviz import SVTreeClassifier\n\n"
        f"clf = SVTreeClassifier(FrozenEstimator(svc), {words}).fit(X)\n"
        f"clf = clf.cut({height})  # at most {height} kernel values a query\n"
    )


@st.cache_resource(max_entries=8, show_spinner="Growing the tree", show_time=True)
def _read(key: tuple, split: str, refit: str, _problem: Problem) -> Reading:
    data = _problem.data
    clf = SVTreeClassifier(
        FrozenEstimator(_problem.estimator), split=split, refit=refit, random_state=0,
        **OPTIONS[refit],
    ).fit(data.X_train)  # fmt: skip
    rows = _problem.svc_rows  # the tree stands behind the first steps of a pipeline
    tests, outputs = _paths(clf.tree_, rows(data.X_test))
    trains, _ = _paths(clf.tree_, rows(data.X_train))
    cells, cell_outputs = None, None
    if _problem.is_plane:
        cells, cell_outputs = _paths(clf.tree_, rows(grid(_problem)[2]))
    right = (outputs > 0) == (data.y_test > 0)[:, None]
    length = np.cumsum((tests >= 0).mean(axis=0))
    curves = pd.DataFrame({"accuracy": right[:, 1:].mean(axis=0), "path_length": length})
    curves.index = pd.RangeIndex(1, len(length) + 1, name="height")
    linear = LinearSVC(dual=False, max_iter=200).fit(data.X_train, data.y_train)
    accuracy = float(linear.score(data.X_test, data.y_test))
    return Reading(clf, clf.tree_.to_frame(), tests, trains, cells, outputs, cell_outputs, curves,
                   accuracy)  # fmt: skip


def _paths(tree: SVTree, X: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    nodes, values, _ = tree.paths(X)
    outputs = tree.running(nodes, values).astype(np.float32)
    return nodes.astype(np.int32), outputs


def _last(paths: NDArray[np.int32], height: int) -> NDArray[np.int32]:
    """The node where each path ends when it is cut: children come after their parents."""
    return paths[:, :height].max(axis=1)
