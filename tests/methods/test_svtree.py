"""SVTreeClassifier: paths, budgets, options, odd inputs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.estimator_checks import parametrize_with_checks

from kmviz import ReducedSetClassifier, SVTreeClassifier
from kmviz.kernels import Linear, Normalized, Polynomial

X, Y = make_moons(200, noise=0.2, random_state=0)
QUERIES = make_moons(60, noise=0.2, random_state=1)[0]
OPTIONS = [
    {},
    {"split": "exact"},
    {"scale_columns": False},
    {"split": "exact", "refit": "path", "stem": 0.5, "max_height": 8},
    {"refit": "path"},
    {"split": "exact", "refit": "path", "stem": 0.5, "max_height": 9, "max_mean": 5.5},
    {"split": "balanced", "max_height": 2},
]


def named(options):
    return ",".join(f"{name}={value}" for name, value in options.items()) or "as published"


@parametrize_with_checks(
    [
        SVTreeClassifier(),
        SVTreeClassifier(split="exact", refit="path", stem=0.5, max_height=8),
    ],
    expected_failed_checks=lambda one: {
        "check_sample_weight_equivalence_on_dense_data": "SVC's default gamma does not see weights"
    },
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("options", OPTIONS, ids=named)
def test_a_cut_tree_answers_as_the_tree_does_at_that_height(options):
    clf = SVTreeClassifier(SVC(C=10.0), random_state=0, **options).fit(X, Y)
    whole = clf.decision_function(QUERIES)
    for height in (1, 2, 4, 99):
        short = clf.cut(height)
        output, steps = clf.tree_.run(QUERIES, height)
        np.testing.assert_allclose(short.decision_function(QUERIES), output, rtol=1e-12)
        np.testing.assert_array_equal(short.steps(QUERIES), steps)
        assert short.tree_.height == min(height, clf.tree_.height)
        assert short.trace(QUERIES[0]).output == pytest.approx(output[0], rel=1e-12)
        frame = short.tree_.to_frame()
        assert (frame["parent"] < frame.index).all()
        inner = frame.index[frame["children_left"] >= 0]
        assert (frame["parent"][frame["children_left"][inner]].to_numpy() == inner).all()
    np.testing.assert_array_equal(clf.decision_function(QUERIES), whole)
    single = clf.cut(2)
    single.predict(QUERIES[:1])
    assert single.decision_function(QUERIES[:1]) == pytest.approx(
        clf.tree_.run(QUERIES[:1], 2)[0], rel=1e-12
    )


def test_what_cannot_be_cut():
    clf = SVTreeClassifier(random_state=0)
    with pytest.raises(NotFittedError):
        clf.cut(3)
    clf.fit(X, Y)
    for bad in (0, -1, 2.5, "3"):
        with pytest.raises(ValueError, match="height must be a whole number"):
            clf.cut(bad)


def test_a_tree_of_several_classes_is_cut_in_each_pair():
    y = Y + 2 * (X[:, 0] > 1)
    clf = SVTreeClassifier(random_state=0).fit(X, y)
    short = clf.cut(1)
    assert [tree.height for tree in short.trees_] == [min(1, t.height) for t in clf.trees_]
    assert short.steps(QUERIES).max() <= len(short.trees_)


def test_a_tree_refuses_rows_of_another_width():
    tree = SVTreeClassifier(random_state=0).fit(X, Y).tree_
    for rows in (QUERIES[:, :1], np.hstack([QUERIES, QUERIES]), QUERIES[0]):
        with pytest.raises(ValueError, match="rows of 2 columns"):
            tree.run(rows)


@pytest.mark.parametrize("options", OPTIONS, ids=named)
def test_path_sums_are_the_output(options):
    clf = SVTreeClassifier(SVC(C=10.0), random_state=0, **options).fit(X, Y)
    output, steps, tree = clf.decision_function(QUERIES), clf.steps(QUERIES), clf.tree_
    for i, x in enumerate(QUERIES):
        trace = clf.trace(x)
        values = tree.kernel(x[None], tree.vectors[trace.index[1:]])[0]
        start = tree.start[trace.node[-1]]
        coefficients = tree.coefficients[start : start + tree.depth[trace.node[-1]]]
        assert trace.output == output[i] == pytest.approx(trace.partial[-1], rel=1e-9, abs=1e-9)
        total = tree.offset[trace.node[-1]] + coefficients @ values
        clipped = np.clip(total, -tree.limit, tree.limit)
        assert output[i] == pytest.approx(clipped, rel=1e-7, abs=1e-7)
        assert trace.stop == steps[i] == len(trace.to_frame()) - 1
        assert trace.partial[0] == -clf.machine_.bias
        left = trace.score[1:-1] <= trace.threshold[1:-1]
        children = np.where(
            left, tree.children_left[trace.node[1:-1]], tree.children_right[trace.node[1:-1]]
        )
        np.testing.assert_array_equal(children, trace.node[2:])


@pytest.mark.parametrize("refit", ["column", "path"])
def test_no_output_is_larger_than_the_machines_own(refit):
    options = {} if refit == "column" else {"split": "exact", "min_rows": 0}
    clf = SVTreeClassifier(SVC(C=100.0), refit=refit, random_state=0, **options).fit(X, Y)
    limit = max(np.abs(clf.exact_function(X)).max(), abs(clf.machine_.bias))
    far = np.vstack([QUERIES, QUERIES * 3.0])
    output = clf.decision_function(far)
    assert np.abs(output).max() <= limit
    free = replace(clf.tree_, limit=np.inf).run(far)[0]
    np.testing.assert_array_equal(output > 0, free > 0)
    assert (np.abs(free) > limit).any(), "else nothing was clipped"
    alone = [clf.decision_function(x[None])[0] for x in far]
    np.testing.assert_allclose(alone, output, rtol=1e-6)


def test_as_published_the_output_is_the_sum_of_node_scores():
    clf = SVTreeClassifier(random_state=0).fit(X, Y)
    trace = clf.trace(QUERIES[3])
    np.testing.assert_allclose(trace.partial, np.cumsum(trace.score) - clf.machine_.bias)


@pytest.mark.parametrize("height", [1, 3, 6])
@pytest.mark.parametrize("options", OPTIONS[:-1], ids=named)
def test_the_budget_holds(options, height):
    clf = SVTreeClassifier(random_state=0, **{**options, "max_height": height}).fit(X, Y)
    assert clf.steps(QUERIES).max() <= height
    assert clf.tree_.height <= height


@pytest.mark.parametrize("options", [*OPTIONS[:3], *OPTIONS[4:6]], ids=named)
def test_a_tree_cut_at_a_height_is_the_tree_grown_to_it(options):
    whole = SVTreeClassifier(random_state=0, **options).fit(X, Y)
    for height in (2, 4):
        short = clone(whole).set_params(max_height=height).fit(X, Y)
        cut = whole.cut(height)
        assert cut.get_params() == short.get_params()
        pd.testing.assert_frame_equal(cut.tree_.to_frame(), short.tree_.to_frame())
        np.testing.assert_array_equal(
            cut.decision_function(QUERIES), short.decision_function(QUERIES)
        )


def test_nodes_are_numbered_level_by_level():
    tree = SVTreeClassifier(random_state=0).fit(X, Y).tree_
    assert (np.diff(tree.depth) >= 0).all()
    whole, cut = tree.to_frame(), tree.cut(3).to_frame()
    pd.testing.assert_series_equal(whole["sv_index"][: len(cut)], cut["sv_index"])


def test_paths_are_told_as_scikit_learns_trees_tell_them():
    clf = SVTreeClassifier(random_state=0).fit(X, Y)
    asked, leaves = clf.decision_path(QUERIES), clf.apply(QUERIES)
    assert asked.shape == (len(QUERIES), clf.tree_.n_nodes)
    for i, x in enumerate(QUERIES[:8]):
        trace = clf.trace(x)
        np.testing.assert_array_equal(np.sort(asked[[i]].indices), np.sort(trace.node[1:]))
        assert leaves[i] == trace.node[-1]


def test_paths_of_several_classes_stand_side_by_side():
    y = Y + 2 * (X[:, 0] > 1)
    clf = SVTreeClassifier(random_state=0).fit(X, y)
    asked, ends = clf.decision_path(QUERIES)
    assert ends[-1] == asked.shape[1] == sum(tree.n_nodes for tree in clf.trees_)
    assert clf.apply(QUERIES).shape == (len(QUERIES), 6)
    np.testing.assert_array_equal(asked.sum(axis=1), clf.steps(QUERIES))
    study = clf.study(QUERIES)
    np.testing.assert_array_equal(study.read().leaf, clf.apply(QUERIES))
    assert study.read(max_height=2).path.shape == (len(QUERIES), 6, 2)


def test_a_tree_without_nodes_can_be_studied():
    machine = SVC(kernel="linear").fit([[0.0], [1.0]], [0, 1])
    clf = SVTreeClassifier(FrozenEstimator(machine)).fit([[0.0], [1.0]])
    clf.engines_[0].tree = clf.tree_.cut(0)
    reading = clf.study([[0.5]]).read()
    assert reading.steps.tolist() == [0]
    assert reading.leaf.tolist() == [-1]
    assert reading.outputs.tolist() == [-clf.machine_.bias]


def test_rows_stop_a_node():
    tree = SVTreeClassifier(min_rows=20, random_state=0).fit(X, Y).tree_
    assert (tree.n_rows[tree.children_left >= 0] > 20).all()
    assert tree.n_rows[tree.children_left < 0].sum() == len(X)


@pytest.mark.parametrize("min_rows", [0, 1, 4])
def test_nodes_too_small_for_two_sides_are_leaves(min_rows):
    clf = SVTreeClassifier(SVC(C=10.0), split="exact", refit="path", min_rows=min_rows).fit(X, Y)
    assert (clf.tree_.n_rows[clf.tree_.children_left >= 0] > 5).all()


def test_the_stem_is_shared():
    clf = SVTreeClassifier(split="exact", refit="path", stem=0.5, max_height=8).fit(X, Y)
    nodes, _, _ = clf.tree_.paths(QUERIES)
    assert (nodes[:, :4] == [0, 1, 2, 3]).all()
    assert (clf.tree_.children_right[:3] == -1).all()
    assert np.isinf(clf.tree_.threshold[:3]).all()
    assert len(np.unique(nodes[:, 4])) == 2
    assert SVTreeClassifier(stem=0.3, random_state=0).fit(X, Y).tree_.children_right[0] == -1


def test_path_refit_explains_more_at_the_same_budget():
    svc = FrozenEstimator(SVC(C=100.0).fit(X, Y))
    exact = svc.estimator.decision_function(QUERIES)
    error = {}
    for refit, stem in (("column", 0.0), ("path", 0.5)):
        clf = SVTreeClassifier(svc, split="exact", refit=refit, stem=stem, max_height=8).fit(X)
        error[refit] = np.median(np.abs(clf.decision_function(QUERIES) - exact))
    assert error["path"] < 0.5 * error["column"]


@pytest.mark.parametrize("max_mean", [1.0, 3.4, 5.5])
@pytest.mark.parametrize("options", [{"split": "exact", "refit": "path"}, {}], ids=named)
def test_a_mean_is_kept(options, max_mean):
    whole = SVTreeClassifier(random_state=0, max_height=9, **options).fit(X, Y)
    clf = clone(whole).set_params(max_mean=max_mean).fit(X, Y)
    mean = clf.steps(X).mean()
    assert mean <= max_mean
    assert mean > max_mean - 1.0  # the largest split costs one value a row
    # a path that ends earlier has the output that stood there
    depth = clf.steps(QUERIES)
    nodes, values, _ = whole.tree_.paths(QUERIES)
    running = whole.tree_.running(nodes, values)
    np.testing.assert_allclose(
        clf.decision_function(QUERIES), running[np.arange(len(QUERIES)), depth], rtol=1e-10
    )


def test_a_mean_that_is_not_reached_takes_nothing_back():
    whole = SVTreeClassifier(split="exact", max_height=6).fit(X, Y)
    clf = clone(whole).set_params(max_mean=6.0).fit(X, Y)
    pd.testing.assert_frame_equal(clf.tree_.to_frame(), whole.tree_.to_frame())


def test_the_least_useful_split_is_taken_back_first():
    clf = SVTreeClassifier(split="exact", max_height=3).fit(X, Y)
    exact = clf.machine_.decision_function(X)
    nodes, values, _ = clf.tree_.paths(X)
    running = np.clip(clf.tree_.running(nodes, values), -1, 1)
    error = (running - np.clip(exact, -1, 1)[:, None]) ** 2
    saved = pd.DataFrame({"node": nodes[:, 1], "saved": error[:, 2] - error[:, 3]})
    worst = saved.groupby("node")["saved"].mean().idxmin()
    mean = clf.steps(X).mean() - 1e-9
    trimmed = clone(clf).set_params(max_mean=mean).fit(X, Y).tree_
    whole = clf.tree_.to_frame()
    lost = whole[whole["parent"] == worst]
    assert trimmed.n_nodes == clf.tree_.n_nodes - len(lost)
    assert np.isinf(trimmed.threshold[list(whole.drop(lost.index).index).index(worst)])


def test_a_single_example_gives_a_path():
    svc = FrozenEstimator(SVC().fit(X, Y))
    clf = SVTreeClassifier(svc, scale_columns=False, min_rows=0, max_height=6).fit(X[:1])
    assert (clf.tree_.children_right == -1).all()
    assert clf.tree_.height > 1
    alone = SVTreeClassifier(svc).fit(X[:1])
    assert alone.tree_.n_nodes == 1
    assert alone.decision_function(X[:1]) == pytest.approx(svc.decision_function(X[:1]))


def test_duplicate_vectors_and_rows():
    svc = FrozenEstimator(SVC().fit(np.repeat(X[:20], 5, axis=0), np.repeat(Y[:20], 5)))
    for options in OPTIONS[:-1]:
        clf = SVTreeClassifier(svc, random_state=0, **options).fit(np.repeat(X[:20], 5, axis=0))
        assert np.isfinite(clf.decision_function(QUERIES)).all()


@pytest.mark.parametrize("options", OPTIONS[:-1], ids=named)
def test_a_heap_of_equal_rows_among_others(options):
    rows = np.vstack([X[:60], np.repeat(X[60:62], 15, axis=0)])
    svc = FrozenEstimator(SVC(C=10.0).fit(X, Y))
    clf = SVTreeClassifier(svc, random_state=0, **options).fit(rows)
    assert clf.tree_.height <= clf.machine_.n_vectors
    assert np.isfinite(clf.decision_function(QUERIES)).all()


def test_constant_columns_do_not_split_for_ever():
    machine = SVC(kernel="linear").fit([[0.0, 1.0], [1.0, 1.0]], [0, 1])
    rows = np.ones((30, 2))
    for options in OPTIONS[:-1]:
        clf = SVTreeClassifier(FrozenEstimator(machine), random_state=0, **options).fit(rows)
        assert np.isfinite(clf.decision_function(rows)).all()
        assert len(np.unique(clf.decision_function(rows))) == 1


@pytest.mark.parametrize("options", OPTIONS, ids=named)
def test_two_rows(options):
    clf = SVTreeClassifier(random_state=0, min_rows=1, **options).fit([[0.0], [1.0]], [0, 1])
    np.testing.assert_array_equal(clf.predict([[0.0], [1.0]]), [0, 1])


def test_weights_of_one_sign():
    machine_like = SVC(kernel="linear").fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    machine_like.dual_coef_ = np.abs(machine_like.dual_coef_)
    machine_like._dual_coef_ = machine_like.dual_coef_
    clf = SVTreeClassifier(FrozenEstimator(machine_like), min_rows=1).fit([[0.0], [1.0], [2.0]])
    assert np.isfinite(clf.decision_function([[0.5]])).all()


def test_same_seed_same_tree():
    first = SVTreeClassifier(random_state=3).fit(X, Y).tree_
    second = SVTreeClassifier(random_state=3).fit(X, Y).tree_
    np.testing.assert_array_equal(first.sv_index, second.sv_index)
    np.testing.assert_array_equal(first.threshold, second.threshold)


def test_balanced_says_what_it_could_take():
    with pytest.raises(ValueError, match="It could take max_height=3 here") as refused:
        SVTreeClassifier(split="balanced").fit(X, Y)
    words = str(refused.value)
    assert "200 rows" in words
    rows = int(words.split("min_rows=")[1].split()[0])
    few = SVC(C=1000.0, gamma=0.3)
    assert SVTreeClassifier(few, split="balanced", min_rows=rows).fit(X, Y).tree_.height <= 3


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"split": "best"}, "split"),
        ({"refit": "leaf"}, "refit"),
        ({"stem": 1.0}, "stem"),
        ({"min_rows": -1}, "min_rows"),
        ({"max_height": 0}, "max_height"),
        ({"fading": 1.5}, "fading"),
        ({"max_mean": 0.5}, "max_mean"),
        ({"candidates": 0}, "candidates"),
        ({"scale_columns": "yes"}, "scale_columns"),
    ],
)
def test_bad_parameters(options, names):
    with pytest.raises(InvalidParameterError, match=names):
        SVTreeClassifier(**options).fit(X, Y)


@pytest.mark.parametrize("options", [{"refit": "path"}, {"stem": 0.5}, {"max_mean": 2.0}])
def test_algorithm_1_stands_alone(options):
    with pytest.raises(ValueError, match=f"no {next(iter(options))}"):
        SVTreeClassifier(split="balanced", **options).fit(X[:8], Y[:8])


def test_more_classes_have_a_tree_a_pair():
    y = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0.2)
    clf = SVTreeClassifier(random_state=0).fit(X, y)
    assert len(clf.trees_) == len(clf.machines_) == 6
    with pytest.raises(AttributeError, match="trees_"):
        clf.tree_


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "kernel", ["rbf", "poly", "linear", Normalized(Linear()), Normalized(Polynomial(degree=3))],
    ids=str,
)  # fmt: skip
def test_a_query_that_comes_alone_is_answered_the_same(kernel, dtype):
    clf = SVTreeClassifier(SVC(kernel=kernel), random_state=0).fit(X, Y)
    queries = QUERIES.astype(dtype)
    output = clf.decision_function(queries)
    direct = clf.tree_.alone(queries[:1])
    assert (direct is not None) == isinstance(kernel, str)
    alone = [clf.decision_function(queries[i : i + 1])[0] for i in range(len(queries))]
    np.testing.assert_array_equal(alone, output)


def test_a_query_that_comes_alone_is_checked_all_the_same():
    clf = SVTreeClassifier(random_state=0).fit(X, Y)
    output = clf.decision_function(QUERIES)
    row = QUERIES[:1].copy()
    for wrong, message in ((np.nan, "NaN"), (np.inf, "infinity")):
        row[0, 1] = wrong
        assert clf.tree_.alone(row) is None
        with pytest.raises(ValueError, match=message):
            clf.decision_function(row)
    with pytest.raises(ValueError, match="3 features"):
        clf.decision_function(np.ones((1, 3)))
    with pytest.raises(ValueError, match="2D array"):
        clf.decision_function(QUERIES[0])
    closed = QUERIES[:1].copy()
    closed.flags.writeable = False
    apart = np.repeat(QUERIES[:1], 2, axis=1)[:, ::2]
    for way in (closed, apart, QUERIES[:1].tolist(), QUERIES[:1].astype(np.longdouble)):
        np.testing.assert_array_equal(clf.decision_function(way), output[:1])


def test_named_columns_and_pipelines_take_the_long_way():
    frame = pd.DataFrame(X, columns=["a", "b"])
    clf = SVTreeClassifier(random_state=0).fit(frame, Y)
    output = clf.decision_function(frame)
    np.testing.assert_array_equal(clf.decision_function(frame[:1]), output[:1])
    with pytest.warns(UserWarning, match="feature names"):
        clf.decision_function(X[:1])
    scaled = make_pipeline(StandardScaler(), SVC())
    clf = SVTreeClassifier(scaled, random_state=0).fit(X, Y)
    output = clf.decision_function(X)
    np.testing.assert_array_equal(clf.decision_function(X[:1]), output[:1])


def test_a_sample_of_the_rows_when_values_would_not_fit(monkeypatch):
    monkeypatch.setattr("kmviz.methods.svtree.classifier.MAX_VALUES", 1000)
    clf = SVTreeClassifier(random_state=0).fit(X, Y)
    assert clf.tree_.n_rows[0] == 1000 // clf.machine_.n_vectors


def test_a_number_of_candidates_is_a_reduced_set_of_so_many_vectors():
    X, y = make_moons(200, noise=0.2, random_state=0)
    frozen = FrozenEstimator(SVC(gamma=2.0, C=5.0).fit(X, y))
    own = {"split": "exact", "refit": "path", "stem": 0.5, "max_height": 6}
    made = ReducedSetClassifier(frozen, n_vectors=3).fit(X).machine_
    counted = SVTreeClassifier(frozen, candidates=3, **own).fit(X)
    m = counted.machine_.n_vectors
    np.testing.assert_array_equal(counted.tree_.vectors[m:], made.vectors)
    asked = counted.tree_.sv_index[:3]
    assert (asked >= counted.machine_.n_vectors).all(), "the stem asks them first"
