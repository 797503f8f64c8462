"""What a visitor with a table of their own takes home works outside the app."""

import os
import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import kmviz
from kmviz import datasets
from kmviz.cli.main import main
from kmviz.ui.shell import parts, url
from kmviz.ui.upload import Upload
from tests.pages.helpers import ROOT, run

PAGES = {
    "Nearest_Support_Vectors": 1,
    "Anytime_Bounds": 2,
    "Reduced_Set": 3,
    "Local_Models": 4,
    "Support_Vector_Tree": 5,
}


@pytest.fixture
def table(tmp_path):
    """Three classes, scales far apart, a column of text, gaps, semicolons and decimal commas."""
    rng, lines = np.random.default_rng(0), ["length;weight;colour;kind"]
    for i in range(120):
        length, weight = rng.normal(i % 3, 0.5), rng.normal(i % 3, 0.5) * 1000
        colour = ("red", "blue", "")[(i + int(rng.integers(2))) % 3]
        kind = ("oak", "ash-tree", "elm")[i % 3]
        lines.append(f"{length:.3f};{weight:.1f};{colour};{kind}".replace(".", ","))
    path = tmp_path / "trees.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("page", PAGES)
def test_code_and_estimator_take_the_visitors_own_rows(page, table, monkeypatch, capsys):
    made: dict = {}
    monkeypatch.setattr(
        parts, "_download", lambda label, make, *_: made.setdefault(label, make())
    )  # fmt: skip
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    data, encoder = datasets.encode_table(table)
    app.session_state[url.UPLOAD] = Upload(data, encoder, table.name, "digest")
    app.switch_page(f"pages/{PAGES[page]}_{page}.py")
    app.query_params["data"], app.query_params["pair"] = "upload", "ash-tree-oak"
    run(app)

    monkeypatch.chdir(table.parent)
    names: dict = {}
    exec(made["Python"], names)
    assert set(names["y"]) == {0, 2}, "ash-tree and oak, not elm"
    assert np.abs(names["X_test"]).max() < 10, "test rows are scaled as training rows are"
    svc = names["svc"]
    (line,) = (m.value for m in app.markdown if m.value.startswith(":small[★"))
    assert re.search(rf"(of |\(){len(svc.support_)}\b", line), "the page counts the same vectors"

    (table.parent / "model.skops").write_bytes(made["Estimator (.skops)"])
    model = kmviz.load("model.skops")
    frame = datasets.read_frame(table)[0]
    known = frame["kind"] != "elm"
    answers = model.predict(frame[known])
    assert set(answers) == {"ash-tree", "oak"}
    assert np.mean(answers == frame["kind"][known]) > 0.9
    assert main(["predict", "model.skops", table.name, "--out", "answers.csv"]) == 0
    assert os.path.getsize("answers.csv")
    capsys.readouterr()
