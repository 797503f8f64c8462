"""Fitted classifiers as C and ONNX, compiled or run, and compared."""

import ctypes
import shutil
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from sklearn.svm import SVC

import kmviz
from kmviz.cli.main import main
from kmviz.io.export import ExportError
from kmviz.kernels import RBF, Linear, Normalized, Polynomial

COMPILER = shutil.which("gcc") or shutil.which("cc")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler to try the file with")

MOONS = make_moons(300, noise=0.2, random_state=0)
IRIS = load_iris(return_X_y=True)
KERNELS = [Linear(), Polynomial(3, 0.5, 1.0), RBF(1.5), Normalized(Polynomial(4)),
           Normalized(Linear())]  # fmt: skip


def compiled(clf, folder, real="float"):
    """`decision(X)` and `predict(X)` of the written file, in C."""
    source, library = folder / "model.c", folder / f"model_{real}.so"
    kmviz.export(clf, source)
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
    for clf, name, words in (
        (exact, "model.txt", r"end in \.c or \.onnx"),
        (kmviz.NSVClassifier().fit(X, y), "model.c", "NSVClassifier cannot be written"),
        (kmviz.SVTreeClassifier().fit(X, y), "model.onnx", "cannot be written as .onnx"),
        (SVC().fit(X, y), "model.c", "ExactClassifier"),
        (own, "model.c", "is Python"),
        (kmviz.ExactClassifier(steps).fit(X, y), "model.c", "QuantileTransformer"),
    ):
        with pytest.raises(ExportError, match=words):
            kmviz.export(clf, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_without_skl2onnx_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(ImportError, match=r"kmviz\[onnx\]"):
        kmviz.export(kmviz.ExactClassifier().fit(*MOONS), tmp_path / "model.onnx")


@pytest.mark.parametrize("data", [MOONS, IRIS], ids=["moons", "iris"])
@pytest.mark.parametrize("cls", ["ExactClassifier", "ReducedSetClassifier"])
def test_onnx_answers_as_the_classifier(cls, data, tmp_path):
    pytest.importorskip("skl2onnx", reason="skl2onnx writes .onnx, and is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="nothing installed reads .onnx")
    X, y = data
    clf = getattr(kmviz, cls)(make_pipeline(StandardScaler(), SVC())).fit(X, y)
    path = tmp_path / "model.onnx"
    kmviz.export(clf, path)
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (label, *_) = session.run(None, {session.get_inputs()[0].name: X.astype(np.float32)})
    assert np.mean(label == clf.predict(X)) > 0.99


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
    assert main(["-q", "export", str(model), str(out)]) == 0
    assert "columns     left, right\n" in capsys.readouterr().out
    assert '{"lower", "upper"}' in out.read_text()


def test_what_is_no_classifier_at_all_is_refused_by_the_command_in_a_line(tmp_path, capsys):
    kmviz.save(SVC().fit(*MOONS), tmp_path / "svc.skops")
    kmviz.save(StandardScaler().fit(MOONS[0]), tmp_path / "scaler.skops")
    for name in ("svc", "scaler"):
        command = ["-q", "export", str(tmp_path / f"{name}.skops"), str(tmp_path / "m.c")]
        assert main(command) == 2
        assert capsys.readouterr().err.count("\n") == 1
