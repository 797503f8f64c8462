"""`kmviz app` finds the app, listens where it is told, and ends when it is told."""

import subprocess
import sys

import pytest
from sklearn.datasets import make_moons
from sklearn.svm import SVC, SVR
from streamlit.testing.v1 import AppTest

import kmviz
from kmviz.cli import app, compile as compiling
from kmviz.cli.main import main
from kmviz.io import places

#: What Python was started with.
MAIN = sys.modules["__main__"]


class Server:
    """Stands in for the server: notes the command, and whether it was ended."""

    def __init__(self, command, env):
        self.command, self.env, self.is_ended = command, env, False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def wait(self):
        return 0

    def terminate(self):
        self.is_ended = True


@pytest.fixture
def started(monkeypatch):
    servers = []
    monkeypatch.setattr(
        app.subprocess, "Popen",
        lambda command, env: servers.append(Server(command, env)) or servers[-1],
    )  # fmt: skip
    return servers


def test_it_starts_the_app_on_this_machine_only(started, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["-q", "app"]) == 0
    command = started[0].command
    assert command[:3] == [sys.executable, "-m", "kmviz.ui.runtime.serve"]
    assert command[3] == str(places.app_folder() / "app.py")
    assert command[4:] == ["--server.port", "8501", "--server.address", "localhost"]


def test_port_and_host_can_be_chosen(started):
    assert main(["-q", "app", "--port", "8600", "--host", "0.0.0.0"]) == 0
    assert started[0].command[4:] == ["--server.port", "8600", "--server.address", "0.0.0.0"]


def test_an_interrupt_ends_the_server(started, monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Server, "wait", interrupted)
    assert main(["-q", "app"]) == 0
    assert started[0].is_ended


def test_without_streamlit_it_says_what_to_install(started, monkeypatch, capsys):
    monkeypatch.setattr(app, "find_spec", lambda name: None if name == "streamlit" else name)
    assert main(["-q", "app"]) == 2
    assert "pip install streamlit" in capsys.readouterr().err
    assert started == []


def test_the_app_is_found_inside_a_package_and_beside_it(tmp_path, monkeypatch):
    package = tmp_path / "kmviz"
    monkeypatch.setattr(places, "_PACKAGE", package)
    with pytest.raises(FileNotFoundError, match=r"No app\.py"):
        places.app_folder()
    for folder in (tmp_path, package / "app"):  # what the package carries comes first
        (folder / "pages").mkdir(parents=True)
        (folder / "app.py").touch()
        assert places.app_folder() == folder


def test_compile_goes_through_every_module_with_loops(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(compiling, "compile_all", lambda names: asked.extend(names) or iter(names))
    assert main(["compile"]) == 0
    assert {"nsv_walk", "svtree", "falk_train"} <= set(asked)
    assert "compiled the loops of" in capsys.readouterr().err


def test_compiling_in_processes_of_their_own_works():
    from kmviz.loops import compile_all

    assert list(compile_all(["embed"])) == ["embed"]


def a_page():
    import streamlit as st

    st.write("a page")


@pytest.mark.parametrize("turn", ["first", "second"])
def test_no_page_of_an_earlier_test_stays_the_main_module(turn):
    """Processes that a test starts would run the page again."""
    assert sys.modules["__main__"] is MAIN
    AppTest.from_function(a_page).run()


def test_the_module_form_is_the_same_command():
    said = subprocess.run(
        [sys.executable, "-m", "kmviz", "--version"], capture_output=True, text=True, check=True
    )
    assert said.stdout == f"kmviz {__import__('kmviz').__version__}\n"


@pytest.fixture
def model(tmp_path):
    """A stored classifier and a table with its columns."""
    X, y = make_moons(60, noise=0.1, random_state=0)
    kmviz.save(SVC().fit(X, y), tmp_path / "moons.skops")
    rows = [f"{a:.6f},{b:.6f},{label}" for (a, b), label in zip(X, y, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,class", *rows]) + "\n")
    return str(tmp_path / "moons.skops"), str(tmp_path / "rows.csv")


def test_the_server_learns_of_a_model_and_its_rows(started, model):
    assert main(["-q", "app", "--model", model[0], "--data", model[1]]) == 0
    assert (started[0].env["KMVIZ_MODEL"], started[0].env["KMVIZ_ROWS"]) == model


def test_a_model_without_rows_is_refused_and_says_what_is_missing(started, model, capsys):
    assert main(["-q", "app", "--model", model[0]]) == 2
    assert "give a table with the model's columns" in capsys.readouterr().err
    assert not started


def test_rows_without_a_model_are_refused(started, model, capsys):
    assert main(["-q", "app", "--data", model[1]]) == 2
    assert "give the model too, with --model" in capsys.readouterr().err
    assert not started


def test_a_regressor_is_refused_in_words(started, model, tmp_path, capsys):
    X, y = make_moons(60, random_state=0)
    kmviz.save(SVR().fit(X, y), tmp_path / "numbers.skops")
    assert main(["-q", "app", "--model", str(tmp_path / "numbers.skops"), "--data", model[1]]) == 2
    assert "holds a SVR, which predicts numbers" in capsys.readouterr().err
    assert not started
