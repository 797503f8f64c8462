"""Fitted classifiers as C and ONNX, compiled or run, and compared."""

import ctypes
import shutil
import subprocess
import sys

import numpy as np
import pytest
from onnxruntime import InferenceSession
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_classification, make_moons
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC, OneClassSVM

import kmviz
from kmviz.cli.main import main
from kmviz.io.agreement import rows_around
from kmviz.io.export import ExportError
from kmviz.kernels import RBF, Linear, Normalized, Polynomial

COMPILER = shutil.which("gcc") or shutil.which("cc")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler to try the file with")

MOONS = make_moons(300, noise=0.2, random_state=0)
IRIS = load_iris(return_X_y=True)
KERNELS = [Linear(), Polynomial(3, 0.5, 1.0), RBF(1.5), Normalized(Polynomial(4)),
           Normalized(Linear())]  # fmt: skip


def compiled(clf, folder, real="float", X=None):
    """`decision(X)` and `predict(X)` of the written file, in C."""
    source, library = folder / "model.c", folder / f"model_{real}.so"
    kmviz.export(clf, source, X=X)
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2", f"-DKMVIZ_REAL={real}"]
    command = [COMPILER, *strict, "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
    subprocess.run(command, check=True)
    loaded = ctypes.CDLL(str(library))
    dtype = np.float32 if real == "float" else np.float64
    pairs = len(clf.machines_)

    def pointer(a):
        return a.ctypes.data_as(ctypes.c_void_p)

    def decision(X):
        out = np.empty((len(X), pairs), dtype)
        for row, answer in zip(np.ascontiguousarray(X, dtype), out, strict=True):
            loaded.kmviz_decision(pointer(row), pointer(answer))
        return out

    def predict(X):
        rows = np.ascontiguousarray(X, dtype)
        names = (ctypes.c_char_p * len(clf.classes_)).in_dll(loaded, "kmviz_classes")
        return [names[loaded.kmviz_predict(pointer(row))].decode() for row in rows]

    return decision, predict


def by_onnx(clf, folder):
    """`predict(X)` of the written file, by onnxruntime."""
    kmviz.export(clf, folder / "model.onnx")
    session = InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
    return lambda X: session.run(None, {"X": X.astype(np.float32)})[0]


def outputs(clf, X):
    return np.column_stack([engine.run(clf.machine_rows(X))[0] for engine in clf.engines_])


def check(clf, X, folder, tolerance=2e-4):
    decision, predict = compiled(clf, folder)
    expected = outputs(clf, X)
    size = np.abs(expected).max()
    np.testing.assert_allclose(decision(X), expected, atol=tolerance * size)
    clear = np.abs(expected).min(axis=1) > tolerance * size
    assert clear.mean() > 0.8
    answers = np.array(predict(X))[clear]
    np.testing.assert_array_equal(answers, clf.predict(X)[clear].astype(str))


@needs_compiler
@pytest.mark.parametrize("cls", ["ExactClassifier", "ReducedSetClassifier", "SVTreeClassifier"])
def test_one_machine_for_each_class_in_c(cls, tmp_path):
    rng = np.random.default_rng(0)  # no two kernel values are equal but for their rounding
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 4)) + y[:, None]
    clf = getattr(kmviz, cls)(OneVsRestClassifier(SVC(gamma=0.5))).fit(X, y)
    decision, predict = compiled(clf, tmp_path, real="double")
    np.testing.assert_allclose(decision(X), clf.decision_function(X), atol=1e-3)
    assert predict(X) == [str(label) for label in clf.predict(X)]


@needs_compiler
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("breaks_ties", [False, True])
def test_at_zero_the_file_answers_as_the_model_does(classes, breaks_ties, tmp_path):
    rng = np.random.default_rng(0)
    X, y, asked = rng.normal(size=(60, 4)), np.arange(60) % classes, rng.normal(size=(20, 4))
    svc = SVC(gamma=1e4, break_ties=breaks_ties).fit(X, y)  # f = 0 for other rows
    _, predict = compiled(kmviz.ExactClassifier(FrozenEstimator(svc)).fit(X), tmp_path, X=asked)
    assert predict(asked) == [str(label) for label in svc.predict(asked)]


@needs_compiler
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("cls", ["ExactClassifier", "ReducedSetClassifier"])
def test_sums_in_c(kernel, cls, tmp_path):
    X, y = MOONS
    check(getattr(kmviz, cls)(SVC(kernel=kernel)).fit(X, y), X, tmp_path)


@needs_compiler
@pytest.mark.parametrize("cls", ["ExactClassifier", "ReducedSetClassifier"])
@pytest.mark.parametrize("breaks", [False, True])
def test_several_classes_in_c(cls, breaks, tmp_path):
    X, y = IRIS
    names = np.array(["setosa", 'versi"color', "virginica é"])[y]
    svc = SVC(C=5.0, break_ties=breaks).fit(X, names)
    check(getattr(kmviz, cls)(FrozenEstimator(svc)).fit(X), X, tmp_path)


@needs_compiler
@pytest.mark.parametrize("data", [MOONS, IRIS], ids=["moons", "iris"])
@pytest.mark.parametrize("options", [{}, {"split": "exact", "refit": "path", "max_height": 6}])
@pytest.mark.parametrize("kernel", [RBF(1.5), Normalized(Polynomial(4))], ids=repr)
def test_trees_in_c(data, options, kernel, tmp_path):
    X, y = data
    clf = kmviz.SVTreeClassifier(SVC(kernel=kernel), random_state=0, **options).fit(X, y)
    decision, predict = compiled(clf, tmp_path, real="double")
    X = X + np.random.default_rng(0).normal(scale=0.1, size=X.shape)  # rows it was grown on tie
    exact = outputs(clf, X)
    near = np.isclose(decision(X), exact, atol=1e-3 * np.abs(exact).max()).all(axis=1)
    assert near.mean() > 0.99, "a score at a threshold may go the other way in float32"
    assert np.mean(np.array(predict(X)) == clf.predict(X).astype(str)) > 0.99


@needs_compiler
@pytest.mark.parametrize("steps", [[StandardScaler()], [StandardScaler(), PCA(2, whiten=True)],
                                   [PCA(3), StandardScaler()]], ids=len)  # fmt: skip
def test_scalers_and_projections_are_in_the_file(steps, tmp_path):
    X, y = IRIS
    rows = X * [1.0, 10.0, 100.0, 0.1] + 50.0
    clf = kmviz.ExactClassifier(make_pipeline(*steps, SVC())).fit(rows, y)
    check(clf, rows, tmp_path, tolerance=1e-3)


def test_what_cannot_be_written_is_refused_in_words(tmp_path):
    X, y = MOONS
    exact = kmviz.ExactClassifier().fit(X, y)
    own = kmviz.ExactClassifier(SVC(kernel=rbf_kernel)).fit(X, y)
    steps = make_pipeline(QuantileTransformer(n_quantiles=20), SVC())
    normal = kmviz.ExactClassifier(SVC(kernel=Normalized(Polynomial(2)))).fit(X, y)
    texts = kmviz.ExactClassifier(make_pipeline(TfidfVectorizer(), SVC()))
    texts.fit(["red", "green", "red red"], [0, 1, 0])
    for clf, name, words in (
        (exact, "model.txt", r"end in \.c or \.onnx"),
        (kmviz.NSVClassifier().fit(X, y), "model.c", "NSVClassifier cannot be written"),
        (kmviz.SVTreeClassifier().fit(X, y), "model.onnx", "cannot be written as .onnx"),
        (SVC().fit(X, y), "model.c", "ExactClassifier"),
        (own, "model.c", "is Python"),
        (kmviz.ExactClassifier(steps).fit(X, y), "model.c", "QuantileTransformer"),
        (normal, "model.onnx", "no kernel that ONNX knows: write a .c file"),
        (texts, "model.onnx", "TfidfVectorizer before the machine reads no rows of numbers"),
    ):
        with pytest.raises(ExportError, match=words):
            kmviz.export(clf, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_without_skl2onnx_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(ImportError, match="pip install skl2onnx"):
        kmviz.export(kmviz.ExactClassifier().fit(*MOONS), tmp_path / "model.onnx")


@pytest.mark.parametrize("data", [MOONS, IRIS], ids=["moons", "iris"])
@pytest.mark.parametrize("cls", ["ExactClassifier", "ReducedSetClassifier"])
def test_onnx_answers_as_the_classifier(cls, data, tmp_path):
    X, y = data
    clf = getattr(kmviz, cls)(make_pipeline(StandardScaler(), SVC())).fit(X, y)
    assert np.mean(by_onnx(clf, tmp_path)(X) == clf.predict(X)) > 0.99


#: Where each file's answers come from where its tool is there, and where it is not.
WAYS = {".c": ("compiled by", "no C compiler"), ".onnx": ("by onnxruntime", "not installed")}


@pytest.fixture(params=[f"{form} {way}" for form in WAYS for way in ("tool", "NumPy")])
def form(request, monkeypatch):
    """A form to export to, with and without what runs it; and how that is named."""
    suffix, way = request.param.split()
    if way == "NumPy":
        monkeypatch.setattr("kmviz.io.agreement.COMPILERS", ())
        monkeypatch.delenv("CC", raising=False)
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
    elif suffix == ".c" and COMPILER is None:
        pytest.skip("no C compiler to try the file with")
    return suffix, WAYS[suffix][way == "NumPy"]


MODELS = {
    "fixed threshold": FixedThresholdClassifier(
        SVC(), threshold=0.3, response_method="decision_function"),
    "tuned threshold": TunedThresholdClassifierCV(SVC(), scoring="f1", cv=3),
    "threshold for the first class": FixedThresholdClassifier(
        make_pipeline(StandardScaler(), SVC()), threshold=0.4, pos_label=0,
        response_method="decision_function"),
    "calibrated": CalibratedClassifierCV(SVC(), ensemble=False, cv=2),
    "LinearSVC": make_pipeline(StandardScaler(), LinearSVC()),
    "NuSVC": NuSVC(nu=0.2),
    "one class": OneClassSVM(nu=0.2),
    "filled holes": make_pipeline(SimpleImputer(), PCA(2, whiten=True), SVC()),
}  # fmt: skip
RARE = make_classification(1_000, 6, n_informative=4, weights=[0.9], flip_y=0.05, random_state=0)


@pytest.mark.parametrize("name", MODELS)
def test_a_file_answers_as_the_whole_model_does(name, form, tmp_path):
    (X, y), (suffix, way) = RARE, form
    clf = kmviz.ExactClassifier(FrozenEstimator(MODELS[name].fit(X[:500], y[:500]))).fit(X)
    found = kmviz.export(clf, tmp_path / f"model{suffix}", X[500:])
    assert (found.rows, found.source) == (500, "given")
    assert way in str(found)
    if suffix == ".onnx":
        np.testing.assert_array_equal(by_onnx(clf, tmp_path)(X[500:]), clf.predict(X[500:]))
    elif COMPILER is not None:
        _, predict = compiled(clf, tmp_path)
        np.testing.assert_array_equal(predict(X[500:]), clf.predict(X[500:]).astype(str))


@pytest.mark.parametrize(
    "names", [np.array(["no", "yes", "perhaps"]), [4, 7, 9]], ids=["words", "numbers"]
)
def test_rows_are_drawn_where_none_are_given(names, form, tmp_path):
    (X, y), (suffix, _) = IRIS, form
    clf = kmviz.ReducedSetClassifier(make_pipeline(StandardScaler(), SVC()), n_vectors=0.5)
    found = kmviz.export(clf.fit(X, np.array(names)[y]), tmp_path / f"model{suffix}")
    assert (found.rows, found.source) == (500, "drawn around its vectors")
    rows = rows_around(clf)
    assert len(np.unique(clf.predict(rows))) == 3
    assert (np.abs(rows.mean(axis=0) - X.mean(axis=0)) < 3 * X.std(axis=0)).all()


def test_a_file_that_answers_otherwise_is_not_written(form, tmp_path):
    (X, y), (suffix, way) = MOONS, form
    far = X + 1e7  # where float32 holds whole numbers
    clf = kmviz.ExactClassifier(SVC(gamma=5.0)).fit(far, y)
    with pytest.raises(ExportError, match=r"would answer (\d+) of 300 rows given") as caught:
        kmviz.export(clf, tmp_path / f"model{suffix}", far)
    assert way in str(caught.value)
    assert "float32" in str(caught.value)
    assert int(str(caught.value).split("would answer ")[1].split()[0]) > 20
    assert not list(tmp_path.iterdir())


def test_ties_that_onnx_does_not_break_are_refused(tmp_path):
    X, y = make_classification(
        600, n_features=12, n_informative=8, n_classes=6, flip_y=0.1, random_state=1
    )
    clf = kmviz.ExactClassifier(SVC(break_ties=True)).fit(X, y)
    with pytest.raises(ExportError, match=r"answer 4 of 600 rows given .* ONNX breaks no ties"):
        kmviz.export(clf, tmp_path / "model.onnx", X)
    assert kmviz.export(clf, tmp_path / "model.c", X).rows == 600


def test_steps_without_an_inverse_take_rows_that_are_given(tmp_path):
    X, y = MOONS
    steps = make_pipeline(make_column_transformer((StandardScaler(), [0, 1])), SVC())
    clf = kmviz.ExactClassifier(steps).fit(X, y)
    with pytest.raises(ExportError, match=r"ColumnTransformer .* has no inverse: give some as X"):
        kmviz.export(clf, tmp_path / "model.onnx")
    assert kmviz.export(clf, tmp_path / "model.onnx", X).rows == len(X)


@pytest.mark.skipif(shutil.which("false") is None, reason="no program called false")
def test_a_compiler_that_fails_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "false")
    with pytest.raises(ExportError, match="false says 'exit code 1'; set CC"):
        kmviz.export(kmviz.ExactClassifier().fit(*MOONS), tmp_path / "model.c")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", Normalized(Polynomial(3))], ids=str)
@pytest.mark.parametrize("data", [MOONS, IRIS], ids=["moons", "iris"])
@pytest.mark.parametrize("shared", [False, True])
def test_a_reduced_set_is_a_plain_svc(kernel, data, shared):
    X, y = data
    clf = kmviz.ReducedSetClassifier(SVC(kernel=kernel, C=3.0), n_vectors=0.3, shared=shared)
    svc = clf.fit(X, y).to_svc()
    assert type(svc) is SVC
    size = np.abs(clf.decision_function(X)).max()
    np.testing.assert_allclose(
        svc.decision_function(X), clf.decision_function(X), rtol=1e-9, atol=1e-9 * max(size, 1.0)
    )
    np.testing.assert_array_equal(svc.predict(X), clf.predict(X))
    piped = kmviz.ReducedSetClassifier(make_pipeline(StandardScaler(), SVC())).fit(X, y)
    np.testing.assert_array_equal(piped.to_svc().predict(X), piped.predict(X))


def test_the_command_writes_a_stored_model(tmp_path, capsys):
    kmviz.save(kmviz.ExactClassifier().fit(*MOONS), tmp_path / "model.skops")
    assert main(["-q", "export", str(tmp_path / "model.skops"), str(tmp_path / "model.c")]) == 0
    assert "kmviz_predict" in (tmp_path / "model.c").read_text()
    assert main(["-q", "export", str(tmp_path / "model.skops"), str(tmp_path / "model.py")]) == 2
    assert "must end in .c or .onnx" in capsys.readouterr().err


def test_a_model_that_was_fitted_to_a_table_is_written_with_the_names_of_its_classes(
    tmp_path, capsys
):
    X, y = MOONS
    rows = [f"{a},{b},{'upper' if c else 'lower'}" for (a, b), c in zip(X, y, strict=True)]
    table, model, out = (tmp_path / name for name in ("moons.csv", "m.skops", "m.c"))
    table.write_text("\n".join(["left,right,class", *rows]))
    assert main(["-q", "fit", str(table), "--method", "exact", "--out", str(model)]) == 0
    assert main(["-q", "export", str(model), str(out), "--data", str(table)]) == 0
    printed = capsys.readouterr().out
    assert "compared    the same answers on 300 rows given; " in printed
    assert "columns     left, right\n" in printed
    assert '{"lower", "upper"}' in out.read_text()


def test_what_is_no_classifier_at_all_is_refused_by_the_command_in_a_line(tmp_path, capsys):
    kmviz.save(SVC().fit(*MOONS), tmp_path / "svc.skops")
    kmviz.save(StandardScaler().fit(MOONS[0]), tmp_path / "scaler.skops")
    for name in ("svc", "scaler"):
        command = ["-q", "export", str(tmp_path / f"{name}.skops"), str(tmp_path / "m.c")]
        assert main(command) == 2
        assert capsys.readouterr().err.count("\n") == 1
