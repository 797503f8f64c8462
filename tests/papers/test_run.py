"""The runner of the papers' tables: lists, makes and stores them."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest

from kmviz import papers
from kmviz.papers import run


def test_tables_are_listed_made_and_stored(tmp_path, capsys, monkeypatch):
    def small(full=False, progress=None):
        """A table that takes no time."""
        return pd.DataFrame({"paper": [1.0], "ours": [1.5 if full else 1.25]})

    def broken(full=False, progress=None):
        raise RuntimeError("no data")

    monkeypatch.setattr(papers, "by_paper", lambda: {"p": {"p_small": small, "p_broken": broken}})
    monkeypatch.delenv("KMVIZ_DATA", raising=False)
    assert run.main(["--list"]) == 0
    assert capsys.readouterr().out.split() == ["p_small", "p_broken"]
    assert run.main(["--out", str(tmp_path)]) == 1
    assert "p_broken failed: RuntimeError: no data" in capsys.readouterr().err
    stored = (tmp_path / "p_small.csv").read_text()
    assert stored == "# python -m kmviz.papers.run --only p_small\npaper,ours\n1.0,1.25\n"
    monkeypatch.setenv("KMVIZ_DATA", str(tmp_path))
    assert run.main(["--full", "--only", "p_small", "--out", str(tmp_path)]) == 0
    head = (tmp_path / "p_small.csv").read_text().splitlines()[0]
    assert head == "# KMVIZ_DATA=... python -m kmviz.papers.run --only p_small --full"
    assert run.main(["--only", "p_small", "--out", str(tmp_path)]) == 0
    full = (tmp_path / "p_small.csv").read_text()
    assert full == f"{head}\npaper,ours\n1.0,1.5\n", "a quick run leaves a full one's table"
    assert "1.25" in capsys.readouterr().out


def test_tables_are_made_side_by_side(tmp_path, capsys, monkeypatch):
    def paper(name):
        def made(full=False, progress=None):
            if name == "b":
                raise RuntimeError("no data")
            return pd.DataFrame({"paper": [1.0], "ours": [2.0]})

        return {f"{name}_table": made}

    monkeypatch.setattr(papers, "by_paper", lambda: {name: paper(name) for name in "abc"})
    monkeypatch.setattr(
        run, "ProcessPoolExecutor", lambda jobs, mp_context: ThreadPoolExecutor(jobs)
    )
    assert run.main(["--jobs", "2", "--out", str(tmp_path)]) == 1
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["a_table", "c_table"]
    output = capsys.readouterr()
    assert "b_table failed: RuntimeError: no data" in output.err
    assert "c_table (" in output.out


def test_an_unknown_table_is_refused(capsys):
    with pytest.raises(SystemExit) as stopped:
        run.main(["--only", "nothing"])
    assert stopped.value.code == 2
    assert "No table matches nothing" in capsys.readouterr().err


def test_every_stored_table_names_the_command_that_makes_it():
    for name in papers.names():
        head = (Path(run.__file__).parent / f"{name}.csv").read_text().splitlines()[0]
        assert f"{run.COMMAND} --only {name}" in head
