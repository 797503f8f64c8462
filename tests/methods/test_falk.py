"""FaLK-SVM as the paper has it: covers, assignment, local SVMs, selection, noise."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.datasets import make_blobs, make_classification, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from kmviz import FaLKClassifier, KNNSVMClassifier, LocalNoiseReducer
from kmviz.datasets.generators import checkerboard, two_spirals
from kmviz.kernels import RBF, Normalized, Polynomial
from kmviz.methods.falk import neighbors, selection
from kmviz.methods.falk.cover import equal_rows, find_cover
from kmviz.methods.falk.neighbors import EuclideanIndex, build_index, cover_order
from kmviz.methods.falk.theory import risk_bound
from kmviz.methods.progress import listening


@pytest.fixture
def brief(monkeypatch):
    """Selection that rests on fewer points, and stops at smaller k."""
    monkeypatch.setattr(selection, "HELD_OUT", (300, 300))
    monkeypatch.setattr(selection, "SIZES", (60, 120, 240))


def points(kind, n, seed):
    rng = np.random.default_rng(seed)
    if kind == "duplicates":
        return rng.normal(size=(max(1, n // 6), 2))[rng.integers(0, max(1, n // 6), size=n)]
    if kind == "clusters":
        return rng.normal(size=(n, 2)) * 0.01 + rng.integers(0, 3, size=(n, 1)) * 10
    return rng.normal(size=(n, 3))


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(["plain", "duplicates", "clusters"]),
    n=st.integers(2, 120),
    k=st.integers(1, 150),
    share=st.floats(0.01, 1.0),
    order=st.sampled_from(["random", "tree"]),
    seed=st.integers(0, 1000),
)
def test_every_point_is_covered_and_belongs_where_its_rank_is_lowest(
    kind, n, k, share, order, seed
):
    X = points(kind, n, seed)
    k = min(k, n)
    n_cover = max(1, int(share * k))
    index = build_index(RBF(1.0), X, seed)
    rng = np.random.default_rng(seed)
    visit = rng.permutation(n) if order == "random" else cover_order(X, index, seed)
    cover = find_cover(X, index, visit, k, n_cover)
    assert (cover.neighbors[:, 0] == cover.centers).all()
    inside = cover.neighbors[:, :n_cover]
    group = equal_rows(X)
    assert set(group[inside].ravel()) == set(group), "definition 1"
    # eq. 11 by brute force: the lowest rank of a point (or of a copy of it), earlier centre first
    for point in range(n):
        ranks = [
            (np.flatnonzero(group[members] == group[point])[:1].tolist() or [n])[0]
            for members in inside
        ]
        best = int(np.argmin(ranks))
        assert cover.rank[point] == ranks[best]
        assert cover.center_of[point] == best
    assert len(np.unique(group[cover.centers])) == len(cover.centers)


def test_the_batched_cover_is_algorithm_1():
    X = points("plain", 300, 3)
    index, order = build_index(RBF(1.0), X, 0), np.random.default_rng(0).permutation(300)
    gaps = ((X[:, None] - X) ** 2).sum(-1)
    covered, centers = np.zeros(300, dtype=bool), []
    for i in order:
        if not covered[i]:
            centers.append(i)
            covered[np.argsort(gaps[i], kind="stable")[:10]] = True
    assert find_cover(X, index, order, 20, 10).centers.tolist() == centers


def test_copies_of_few_points_need_few_centres():
    X = np.repeat(points("plain", 50, 0), 60, axis=0)
    clf = FaLKClassifier(n_neighbors=100, random_state=0).fit(X, (X[:, 0] > 0).astype(int))
    assert len(clf.centers_) <= 50
    assert clf.score(X, (X[:, 0] > 0).astype(int)) == 1.0


def test_the_tree_order_goes_from_the_top_level_down():
    X = points("plain", 200, 1)
    kernel = Polynomial(2)
    index = build_index(kernel, X, 0)
    order = cover_order(X, index, 0)
    assert (np.diff(index.level[order]) <= 0).all()
    assert order[0] == index.root


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_all_neighbours_is_the_svm(kernel, n_classes):
    X, y = make_blobs(150, centers=n_classes, cluster_std=3.0, random_state=2)
    X -= X.mean(axis=0)
    svc = SVC(kernel=kernel).fit(X, y)
    for clf in (
        FaLKClassifier(n_neighbors=500, kernel=kernel, random_state=0),
        KNNSVMClassifier(n_neighbors=150, kernel=kernel),
    ):
        clf.fit(X, y)
        assert (clf.predict(X) == svc.predict(X)).mean() > 0.99
        np.testing.assert_allclose(
            clf.decision_function(X[:20]), svc.decision_function(X[:20]), atol=0.03
        )
    assert len(FaLKClassifier(n_neighbors=500, random_state=0).fit(X, y).centers_) == 1


def test_two_neighbours_are_the_nearest_neighbour_rule():
    X, y = make_moons(200, noise=0.3, random_state=0)
    queries = make_moons(100, noise=0.3, random_state=1)[0]
    nearest = KNeighborsClassifier(1).fit(X, y).predict(queries)
    np.testing.assert_array_equal(KNNSVMClassifier(2).fit(X, y).predict(queries), nearest)
    np.testing.assert_array_equal(
        FaLKClassifier(1, random_state=0).fit(X, y).predict(queries), nearest
    )


def test_the_lazy_svm_is_an_svc_on_the_neighbourhood():
    X, y = make_moons(300, noise=0.3, random_state=0)
    clf = KNNSVMClassifier(n_neighbors=60, gamma=2.0, C=3.0).fit(X, y)
    for query in make_moons(20, noise=0.3, random_state=1)[0]:
        rows = np.argsort(((X - query) ** 2).sum(axis=1))[:60]
        if len(set(y[rows])) == 2:
            expected = SVC(gamma=2.0, C=3.0).fit(X[rows], y[rows]).decision_function([query])
            np.testing.assert_allclose(clf.decision_function([query]), expected, atol=0.02)
        else:
            assert clf.predict([query])[0] == y[rows[0]]
            assert clf.steps([query])[0] == 0


def test_point_and_centre_selection():
    X, y = make_moons(400, noise=0.25, random_state=0)
    queries = make_moons(200, noise=0.25, random_state=1)[0]
    point = FaLKClassifier(40, random_state=0).fit(X, y)
    center = FaLKClassifier(40, select="center", random_state=0).fit(X, y)
    np.testing.assert_array_equal(point.centers_, center.centers_)
    np.testing.assert_array_equal(
        point.selecting("center").decision_function(queries), center.decision_function(queries)
    )
    for query in queries[:40]:
        near = np.argmin(((X[center.centers_] - query) ** 2).sum(axis=1))
        assert center.trace(query).model == near  # eq. 10
        near = np.argmin(((X - query) ** 2).sum(axis=1))
        assert point.trace(query).model == point.center_of_[near]  # eq. 12
    assert (point.predict(queries) == center.predict(queries)).mean() > 0.95
    members = point.neighborhood(3)
    assert len(members) == 40
    assert members[0] == point.centers_[3]


def same_model(a, b):
    np.testing.assert_array_equal(a.centers_, b.centers_)
    np.testing.assert_array_equal(a.center_of_, b.center_of_)
    for name in ("starts", "index", "weight", "bias", "gammas"):
        np.testing.assert_array_equal(getattr(a.models_, name), getattr(b.models_, name))


@pytest.mark.parametrize("params", [{}, {"cover": "tree"}, {"kernel": "poly"}, {"tune": True}])
def test_the_model_does_not_depend_on_jobs(params, brief):
    data = checkerboard(1500, seed=1, n_test=200)
    X, y = data.X_train, data.y_train
    models = [
        FaLKClassifier(20, gamma="scale", n_jobs=jobs, random_state=5, **params).fit(X, y)
        for jobs in (None, 2, 3)
    ]
    same_model(models[0], models[1])
    same_model(models[0], models[2])
    np.testing.assert_array_equal(
        models[0].decision_function(data.X_test), models[2].decision_function(data.X_test)
    )


def test_local_widths_and_variants_reach_the_svm():
    data = two_spirals(3000, seed=0)
    X, y, X_test, y_test = data.X_train, data.y_train, data.X_test, data.y_test
    svc = SVC(gamma=0.1, C=10).fit(X, y).score(X_test, y_test)
    for params in ({}, {"select": "center"}, {"cover": "tree"}):
        local = FaLKClassifier(100, gamma="local", random_state=0, **params).fit(X, y)
        assert local.score(X_test, y_test) > svc - 0.01
        assert len(np.unique(local.models_.gammas)) > 1
    lazy = KNNSVMClassifier(100, gamma="local").fit(X, y)
    assert lazy.score(X_test, y_test) > svc - 0.01


def test_selection_finds_good_parameters_on_training_data_alone(brief):
    data = checkerboard(1500, seed=0)
    X, y = data.X_train, data.y_train
    tuned = FaLKClassifier(50, tune=True, random_state=0).fit(X, y)
    tried = pd.DataFrame(tuned.selection_)
    same_size = tried[tried["n_neighbors"] == tuned.n_neighbors_].set_index(["C", "percentile"])
    chosen = same_size.loc[(tuned.C_, tuned.percentile_)]
    assert chosen["error"] == same_size["error"].min()
    assert chosen["error"] < tried["error"].min() + 0.01
    plain = FaLKClassifier(50, random_state=0).fit(X, y)
    score = tuned.score(data.X_test, data.y_test)
    assert score >= plain.score(data.X_test, data.y_test) - 0.005
    auto = FaLKClassifier("auto", random_state=0).fit(X, y)
    assert auto.score(data.X_test, data.y_test) > score - 0.02
    linear = FaLKClassifier(50, kernel="linear", tune=True, random_state=0).fit(X[:300], y[:300])
    assert set(linear.selection_["percentile"]) == {50.0}
    three = make_blobs(300, centers=3, random_state=0)
    assert FaLKClassifier("auto", random_state=0).fit(*three).score(*three) > 0.9


def test_noise_is_found():
    data = checkerboard(3000, noise=0.0, seed=0)
    X, y = data.X_train, data.y_train.copy()
    flipped = np.random.default_rng(0).random(len(y)) < 0.2
    y[flipped] *= -1
    before = KNeighborsClassifier(1).fit(X, y).score(data.X_test, data.y_test)
    for method in ("falk", "knnsvm"):
        reducer = LocalNoiseReducer(method, n_neighbors=100, gamma="local", random_state=0)
        kept, labels = reducer.fit_resample(X, y)
        assert reducer.noise_[flipped].mean() > 0.9
        assert reducer.noise_[~flipped].mean() < 0.1
        after = KNeighborsClassifier(1).fit(kept, labels).score(data.X_test, data.y_test)
        assert after > before + 0.1
        np.testing.assert_array_equal(kept, X[reducer.sample_indices_])


def test_a_tiny_class_that_is_never_predicted_is_told():
    X, y = make_moons(600, noise=0.1, random_state=0)
    y[:3] = 2
    with pytest.warns(UserWarning, match="Class 2 has 3 members"):
        FaLKClassifier(200, C=0.1, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FaLKClassifier(200, random_state=0).fit(X, y % 2)


def test_the_bound_of_eq_13():
    n, k, error, h, eta = 10_000, 2_000, 0.1, 3, 0.05
    first = np.sqrt((h * np.log(2 * n / h + 1) - np.log(eta / 2)) / n)
    second = np.sqrt((2 * np.log(n + 1) - np.log(eta / 2)) / n)
    expected = (k / n * error + first) / abs(k / n - second)
    assert risk_bound(n, k, error, h, eta) == pytest.approx(expected)
    assert risk_bound(n, k, 0.0, h) < risk_bound(n, k, 0.2, h) < risk_bound(n, k, 0.2, 2 * h)


def test_training_reports_its_progress():
    heard = []
    X, y = make_moons(3000, noise=0.2, random_state=0)
    with listening(lambda fraction, text: heard.append((fraction, text))):
        FaLKClassifier(20, random_state=0).fit(X, y)
    fractions = [fraction for fraction, _ in heard]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert any("centres" in text for _, text in heard)


def test_two_points_and_one_neighbour():
    clf = FaLKClassifier(random_state=0).fit([[0.0], [1.0]], ["a", "b"])
    assert clf.predict([[0.1], [0.9]]).tolist() == ["a", "b"]
    lazy = KNNSVMClassifier(1).fit([[0.0], [1.0]], ["a", "b"])
    assert lazy.predict([[0.1], [0.9]]).tolist() == ["a", "b"]


@pytest.mark.parametrize("select", ["point", "center"])
def test_one_query_does_not_wait_for_joblib(monkeypatch, select):
    X, y = make_moons(200, noise=0.2, random_state=0)
    clf = FaLKClassifier(n_neighbors=50, select=select, n_jobs=2, random_state=0).fit(X, y)
    together = clf.decision_function(X[:5])
    monkeypatch.setattr(neighbors, "effective_n_jobs", lambda _: pytest.fail("asked"))
    alone = [clf.decision_function(x[None])[0] for x in X[:5]]
    np.testing.assert_array_equal(alone, together)


@pytest.mark.parametrize("select", ["point", "center"])
@pytest.mark.parametrize("projection", [None, 2])
def test_what_happens_inside_is_public(select, projection):
    rows, y = make_classification(400, 6, n_informative=4, random_state=0)
    queries = rows[300:]
    clf = FaLKClassifier(40, 15, select=select, projection=projection, random_state=0)
    clf.fit(rows[:300], y[:300])
    models, nearest = clf.apply(queries), clf.nearest(queries)
    traces = [clf.trace(x) for x in queries[:20]]
    assert models[:20].tolist() == [trace.model for trace in traces]
    assert nearest[:20].tolist() == [trace.nearest for trace in traces]
    np.testing.assert_array_equal(
        clf.model_outputs(models, queries), clf.decision_function(queries)
    )
    for model in (0, len(clf.models_) - 1):
        members, record = clf.neighborhood(model), clf.local_model(model)
        assert members[0] == clf.centers_[model]
        gaps = np.linalg.norm(clf.rows_[members] - clf.rows_[members[0]], axis=1)
        np.testing.assert_allclose(clf.radii([model])[0], gaps[[14, 39]])
        own = clf.classes_[(clf.model_outputs(model, clf.rows_[members]) > 0).astype(int)]
        assert record.error == np.mean(own != y[members])
        assert set(record.vectors) <= set(members)
        assert (record.inner, record.outer) == pytest.approx(tuple(gaps[[14, 39]]))


def test_contradicted_rows_are_what_the_noise_reducer_removes():
    rows, y = make_moons(300, noise=0.35, random_state=0)
    clf = FaLKClassifier(30, random_state=0).fit(rows, y)
    reducer = LocalNoiseReducer(n_neighbors=30, random_state=0)
    reducer.fit_resample(rows, y)
    np.testing.assert_array_equal(clf.contradicted(), reducer.noise_)
    assert 0 < clf.contradicted().sum() < 100


@pytest.mark.parametrize(("d", "least", "most"), [(2, 10, 200), (40, 1500, 2000)])
def test_the_search_costs_what_the_dimension_makes_it(d, least, most):
    rows = np.random.default_rng(0).normal(size=(2000, d))
    clf = FaLKClassifier(30, random_state=0).fit(rows, rows[:, 0] > 0)
    assert least <= clf.overhead_ <= most


def test_a_linear_kernel_far_from_zero_is_as_exact_as_near_it():
    rows, y = make_moons(200, noise=0.2, random_state=0)
    far = rows + 3000.0
    clf = FaLKClassifier(200, kernel="linear").fit(far, y)
    wanted = SVC(kernel="linear").fit(rows, y).decision_function(rows)
    np.testing.assert_allclose(clf.decision_function(far), wanted, atol=0.02)


@pytest.mark.parametrize("C", [1.0, 1e6])
def test_models_that_do_not_settle_are_counted_and_end(C):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 2)) * [1.0, 1e4]
    y = rows[:, 0] + 0.5 * rng.normal(size=200) > 0
    with pytest.warns(ConvergenceWarning, match="did not converge; scale the features"):
        KNNSVMClassifier(60, kernel="linear", C=C).fit(rows, y).predict(rows[:40])


def test_a_kernel_far_too_narrow_knows_no_neighbours():
    rows, y = make_moons(100, noise=0.2, random_state=0)
    clf = FaLKClassifier(30, gamma=1.0, random_state=0).fit(rows * 1e20, y)
    assert np.abs(clf.decision_function(rows * 1e20)).max() < 2
    assert clf.score(rows * 1e20, y) == 1.0  # every point its own


def test_selection_holds_out_the_points_that_a_centre_answers_for(monkeypatch, brief):
    rows, y = make_moons(400, noise=0.2, random_state=0)
    inner = []
    plain = selection.neighborhood_errors

    def heard(*args):
        inner.append(args[4])
        return plain(*args)

    monkeypatch.setattr(selection, "neighborhood_errors", heard)
    FaLKClassifier(40, n_cover=7, tune=True, random_state=0).fit(rows, y)
    assert set(inner) == {7}
    inner.clear()
    FaLKClassifier(40, tune=True, random_state=0).fit(rows, y)
    assert set(inner) >= {20, 40}


def test_a_normalised_radial_kernel_is_tuned_as_what_it_is(brief):
    board = checkerboard(800, seed=0)
    rows, y = board.X_train, board.y_train
    plain = FaLKClassifier(60, kernel=RBF(1e-4), tune=True, random_state=0).fit(rows, y)
    same = FaLKClassifier(60, kernel=Normalized(RBF(1e-4)), tune=True, random_state=0).fit(rows, y)
    np.testing.assert_allclose(same.decision_function(rows), plain.decision_function(rows))
    assert same.local_machine(rows[0]).kernel == plain.local_machine(rows[0]).kernel


def test_selection_goes_past_the_ends_of_its_grid_while_it_pays(brief):
    board = checkerboard(2000, noise=0.0, seed=0)
    rows, y = board.X_train, board.y_train
    clf = FaLKClassifier(80, tune=True, random_state=0).fit(rows, y)
    tried = clf.selection_
    ends = {"C": (1.0, 64.0), "percentile": (1.0, 90.0)}
    past = [set(tried[name]) - set(grid) for name, grid in
            (("C", selection.COSTS), ("percentile", selection.PERCENTILES))]  # fmt: skip
    chosen = {"C": clf.C_, "percentile": clf.percentile_}
    assert any(past) == any(chosen[n] in ends[n] or chosen[n] in p
                            for n, p in zip(("C", "percentile"), past, strict=True))  # fmt: skip
    assert clf.score(rows, y) > 0.95


def test_a_low_percentile_hardly_depends_on_which_points_are_near():
    rng = np.random.default_rng(0)
    gammas = [
        FaLKClassifier(200, gamma="local", percentile=1, random_state=0)
        .fit(rows := rng.normal(size=(200, 2)), rows[:, 0] > 0)
        .models_.gammas[0]
        for _ in range(20)
    ]
    assert np.std(gammas) / np.mean(gammas) < 0.25


def test_long_rows_are_searched_by_products_and_find_what_the_tree_finds():
    draw = np.random.default_rng(0)
    rows = draw.normal(size=(300, 40)) + 5.0
    rows[100:120] = rows[:20]
    index, asked = EuclideanIndex(rows), draw.normal(size=(30, 40)) + 5.0
    assert index.is_wide
    found = index.query(asked, 60)
    assert np.array_equal(np.vstack([index.query(x[None], 60) for x in asked]), found)
    gaps = np.linalg.norm(asked[:, None] - rows, axis=2)
    nearest = np.take_along_axis(gaps, found, axis=1)
    np.testing.assert_allclose(nearest, np.sort(gaps, axis=1)[:, :60], rtol=1e-12)
    assert index.query(rows[105][None], 2)[0].tolist() == [5, 105], "of equals the first one"
    assert not EuclideanIndex(rows[:, :2]).is_wide


def test_rows_whose_kernel_values_overflow_are_refused_in_words():
    with pytest.raises(ValueError, match="scale the features"):
        FaLKClassifier(2, kernel="linear").fit(np.full((4, 2), 1e300), [0, 1, 0, 1])


def test_settings_that_are_clearly_worse_are_dropped_and_others_kept():
    rng = np.random.default_rng(0)
    errors = 0.2 + 0.05 * rng.normal(size=(30, 2, 3))
    errors[:, 1, 2] += 0.2
    errors[:, 0, 1] = errors[:, 1, 1]
    kept = selection.promising(errors)
    assert not kept[1, 2]
    assert kept.ravel()[errors.reshape(30, -1).mean(axis=0).argmin()]
    assert kept[0, 1] == kept[1, 1]
    assert selection.promising(errors[:1]).all(), "one neighbourhood drops nothing"


def test_a_dropped_setting_is_not_chosen_however_it_looked():
    tried = pd.DataFrame({
        "n_neighbors": 50, "C": [1.0, 4.0], "percentile": 50.0, "error": [0.1, 0.2],
        "held_out": [100, 300],
    })  # fmt: skip
    assert selection.best_row(tried)["C"] == 4.0
