"""Every command, its results on stdout, and its exit code."""

import re

import numpy as np
import pandas as pd
import pytest

import kmviz
from kmviz import datasets
from kmviz.cli import compare
from kmviz.cli.files import bytes_of, safe_cell
from kmviz.cli.main import main
from kmviz.kernels import Polynomial

COMMANDS = [
    "app", "data list", "fit", "predict", "accelerate", "audit", "compare", "export",
    "compile",
]  # fmt: skip


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([*command.split(), "--help"])
    assert stopped.value.code == 0
    assert "usage: kmviz" in capsys.readouterr().out


def test_data_list_names_every_set(capsys):
    assert main(["-q", "data", "list", "--csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == list(datasets.names())


@pytest.mark.parametrize("word", ["true", "True"])
def test_k_and_c_are_chosen_for_local_models_of_every_row(table, tmp_path, capsys, word):
    out = tmp_path / "chosen.falk"
    assert main(["fit", str(table), "--target", "kind", "--method", "falk", "--out", str(out),
                 "--set", f"tune={word}", "--set", "n_neighbors=20",
                 "--C", "1000"]) == 0  # fmt: skip
    k, C = re.search(r"of k = ([\d,]+), C = (\S+)", capsys.readouterr().out).groups()
    assert int(k.replace(",", "")) >= 20
    assert float(C) != 1000


def test_fit_reports_and_stores(model, table, frame, capsys):
    stored = kmviz.load(model)
    assert stored.encoder.target == "kind"
    assert (stored.predict(frame) == frame["kind"]).mean() > 0.75
    out = model.with_name("again.skops")
    assert main(["fit", str(table), "--target", "kind", "--method", "nsv", "--set", "window=3",
                 "--out", str(out)]) == 0  # fmt: skip
    said = capsys.readouterr()
    assert re.search(r"^accuracy +0\.\d+ on 120 rows held out$", said.out, re.MULTILINE)
    assert "Categories became 0/1 columns" in said.err
    assert kmviz.load(out).classifier.window == 3


def test_fit_auto_states_its_promise(tmp_path, capsys):
    out = tmp_path / "fast.skops"
    assert main(["-q", "fit", "banana", "--method", "auto", "--max-disagreement", "0.02", "--out",
                 str(out)]) == 0  # fmt: skip
    assert "promise" in capsys.readouterr().out
    assert kmviz.load(out).promise_.rate <= 0.02


@pytest.mark.parametrize("method", ["exact", "falk_100", "reduced"])
@pytest.mark.parametrize("kernel", ["rbf", "poly_normalized"])
def test_methods_and_kernels_from_the_shell(table, tmp_path, method, kernel):
    out = tmp_path / "m.skops"
    code = main(["-q", "fit", str(table), "--target", "kind", "--method", method, "--kernel",
                 kernel, "--degree", "2", "--out", str(out)])  # fmt: skip
    assert code == 0
    assert kmviz.load(out).classifier.predict(np.zeros((1, 6))).shape == (1,)


@pytest.mark.parametrize("method", ["falk", "knnsvm", "exact"])
def test_the_degree_asked_for_is_the_degree_trained(table, tmp_path, method):
    """A local method took the word "poly" and left the degree behind."""
    out = tmp_path / "m.skops"
    assert main(["-q", "fit", str(table), "--target", "kind", "--method", method, "--kernel",
                 "poly", "--degree", "2", "--gamma", "0.5", "--out", str(out)]) == 0  # fmt: skip
    clf = kmviz.load(out).classifier
    last = clf[-1] if hasattr(clf, "steps") and not callable(clf.steps) else clf
    kernel = last.machine_.kernel if method == "exact" else last.kernel_
    assert kernel == Polynomial(degree=2, gamma=0.5, coef0=1.0)


BAD = [
    (["fit", "none.csv", "--out", "m.skops"], "no file"),
    (["fit", "{table}", "--target", "colours", "--out", "m.skops"], "no column 'colours'"),
    (["fit", "{table}", "--target", "kind", "--out", "m.pkl"], ".skops"),
    (
        [
            "fit",
            "{table}",
            "--target",
            "kind",
            "--method",
            "nsv",
            "--set",
            "wndow=3",
            "--out",
            "m.skops",
        ],
        "name=value",
    ),
    (["fit", "{table}", "--target", "kind", "--set", "window=3", "--out", "m.skops"], "--method"),
    (["accelerate", "none.skops", "{table}", "--out", "m.skops"], "no file"),
    (["accelerate", "none.skops", "{table}", "--out", "m.c"], ".skops"),
    (["audit", "{table}", "{table}"], "not a skops file"),
    (["fit", "{table}", "--target", "kind", "--gamma", "big", "--out", "m.skops"], "--gamma"),
    (["fit", "{table}", "--target", "kind", "--memory", "much", "--out", "m.skops"], "size"),
    (
        [
            "fit",
            "{table}",
            "--target",
            "kind",
            "--method",
            "nsv",
            "--set",
            "window=-3",
            "--out",
            "m.skops",
        ],
        "window",
    ),
    (["fit", "{table}", "--target", "kind", "--out", "no/where/m.skops"], "no folder"),
    (["fit", "mnist", "--pair", "three", "--out", "m.skops"], "--pair"),
    (["fit", "banna", "--out", "m.skops"], "no data set of that name"),
    (["fit", "banana", "--target", "y", "--out", "m.skops"], "--target is for files"),
    (["fit", "banana", "--seed", "-1", "--out", "m.skops"], "--seed: '-1' is no whole number"),
    (["fit", "{table}", "--pair", "3-8", "--out", "m.skops"], "--pair is for embedded"),
    (["compare", "{table}", "--n", "50"], "--n is for embedded"),
    (["fit", "{table}", "--method", "magic", "--out", "m.skops"], "invalid choice"),
    (["predict", "none.skops", "{table}"], "no file"),
    (["predict", "none.skops", "{table}", "--chunk", "0"], "--chunk"),
    (["predict", "{table}", "{table}"], "not a skops file"),
    (["compare", "{table}", "--methods", "nvs"], "No method is called"),
    (["compare", "banana", "--out", "no/where/table.csv"], "no folder"),
    (["app", "--port", "0"], "--port takes a number"),
    (["dance"], "invalid choice"),
    ([], "required"),
]


@pytest.mark.parametrize(("arguments", "said"), BAD, ids=lambda v: " ".join(v)[:40])
def test_bad_input_is_one_clear_line_and_code_2(
    arguments, said, table, capsys, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    try:
        code = main(["-q", *(a.format(table=table) for a in arguments)])
    except SystemExit as stopped:
        code = stopped.code
    captured = capsys.readouterr()
    assert code == 2
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert said in captured.err
    assert list(tmp_path.iterdir()) == []


def test_compare_looks_where_it_will_write_before_it_works(tmp_path, monkeypatch):
    monkeypatch.setattr(compare, "compare_rows", lambda *_, **__: pytest.fail("it worked"))
    assert main(["-q", "compare", "banana", "--out", str(tmp_path)]) == 2


def test_compare_prints_and_writes_a_table(table, tmp_path, capsys):
    out = tmp_path / "table.csv"
    common = ["-q", "compare", str(table), "--target", "kind", "--no-time", "--out", str(out)]
    assert main([*common, "--methods", "nsv,linear_svc"]) == 0
    said = capsys.readouterr().out
    assert "linear_svc" in said
    written = pd.read_csv(out, index_col="method")
    assert written.index.tolist() == ["exact", "nsv", "linear_svc"]


def test_sizes_and_cells():
    assert bytes_of("500MB") == 500 * 2**20
    assert bytes_of("2g") == 2 * 2**30
    assert safe_cell("@SUM(A1)") == "'@SUM(A1)"
    assert safe_cell("-1.5e3") == "-1.5e3"
