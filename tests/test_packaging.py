"""What is installed: a light library, and a wheel that answers and carries the app."""

from __future__ import annotations

import ast
import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

import pytest

import kmviz
from tests.server import free_port, wait_until_healthy

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("streamlit", "plotly", "pandas", "pyarrow", "skops")


def python(code: str, executable: str = sys.executable, cwd: Path = ROOT, **env: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [executable, "-c", code], cwd=cwd, env=os.environ | env, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_kmviz_imports_nothing_heavy():
    heavy = (*HEAVY, "sklearn", "numba", "scipy", "joblib")
    assert python(f"import sys, kmviz; print([m for m in {heavy} if m in sys.modules])") == "[]"


def test_a_classifier_imports_no_more_than_scikit_learn_does():
    """scikit-learn itself imports pandas where it finds it."""
    methods = ", ".join(name for name in kmviz.__all__ if name.endswith("Classifier"))
    found = python(
        f"import sys, sklearn.svm; before = set(sys.modules)\nfrom kmviz import {methods}\n"
        f"print([m for m in {HEAVY} if m in sys.modules and m not in before])"
    )
    assert found == "[]"


def test_the_list_of_commands_imports_nothing_heavy():
    heavy = (*HEAVY, "numpy", "sklearn", "numba", "scipy", "joblib")
    found = python(
        "import sys\nfrom kmviz.cli.main import parser\n"
        f"parser(['--help']).format_help(), print([m for m in {heavy} if m in sys.modules])"
    )
    assert found == "[]"


def test_the_library_answers_where_tables_and_pictures_are_missing():
    answered = python(
        "import sys\nclass Missing:\n    def find_spec(self, name, *_):\n"
        f"        if name.partition('.')[0] in {HEAVY}: raise ImportError(name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "from sklearn.datasets import make_moons\nfrom kmviz import NSVClassifier\n"
        "X, y = make_moons(60, random_state=0)\n"
        "clf = NSVClassifier(random_state=0).fit(X, y)\n"
        "print(clf.predict(X[:3]).shape, clf.trace(X[0]).output == clf.decision_function(X[:1])[0])"
    )
    assert answered == "(3,) True"


def test_every_public_name_is_there_and_is_what_readers_of_types_see():
    tree = ast.parse((ROOT / "kmviz" / "__init__.py").read_text(encoding="utf-8"))
    typed = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in typed.body for alias in node.names}
    assert set(seen) == set(kmviz.__all__)
    for name, module in seen.items():
        namespace: dict = {}
        exec(f"from {module} import {name}", namespace)
        assert getattr(kmviz, name) is namespace[name]
    assert set(kmviz.__all__) <= set(dir(kmviz))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        kmviz.nothing


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = "from hatchling.build import build_wheel; print(build_wheel({!r}))"
    return folder / python(build.format(str(folder))).splitlines()[-1]


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """An environment with nothing but the wheel; what it needs is read where we have it.

    Loops are found compiled: their stamps are those of their sources, wherever they stand.
    """
    folder = tmp_path_factory.mktemp("installed") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    executable = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    purelib = python("import sysconfig; print(sysconfig.get_path('purelib'))", str(executable))
    ours = sysconfig.get_path("purelib")
    (Path(purelib) / "ours.pth").write_text(f"{ours}\n", encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", executable, "install", "--quiet", "--no-deps",
         "--no-index", "--force-reinstall", wheel], check=True,
    )  # fmt: skip
    compiled = Path(purelib) / "kmviz" / "loops" / "__pycache__"
    for file in (ROOT / "kmviz" / "loops" / "__pycache__").glob("*.nb[ci]"):
        shutil.copy(file, compiled)
    return executable


def test_the_wheel_asks_for_the_library_alone(wheel):
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith("METADATA"))
        lines = archive.read(name).decode().splitlines()
    assert "Name: kmviz-svm" in lines
    assert f"Version: {kmviz.__version__}" in lines
    needed = [line for line in lines if line.startswith("Requires-Dist:")]
    always = [line for line in needed if "extra ==" not in line]
    assert not [line for line in always if any(name in line for name in HEAVY[:-1])]
    foreign = re.compile(r"Requires-Dist: kmviz(?!-svm)")
    assert not [line for line in needed if foreign.match(line)]
    of_app = {re.split(r"[<>=; ]", line)[1] for line in needed if "extra == 'app'" in line}
    assert of_app >= {"pandas", "pyarrow", "plotly", "streamlit"}
    for extra in ("tables", "app", "plot", "onnx", "distributed", "test"):
        assert f"Provides-Extra: {extra}" in lines


def test_an_environment_holds_no_distribution_of_another_project(installed):
    own = python("import sysconfig; print(sysconfig.get_path('purelib'))", str(installed))
    names = {dist.metadata["Name"] for dist in distributions(path=[own])}
    assert names == {"kmviz-svm"}
    said = subprocess.check_output([installed.with_name("kmviz"), "--version"], text=True)
    assert said == f"kmviz {kmviz.__version__}\n"


def test_the_wheel_carries_the_app_and_all_that_it_reads(wheel):
    with zipfile.ZipFile(wheel) as archive:
        carried = set(archive.namelist())
    assert "kmviz/py.typed" in carried
    places = dict.fromkeys(
        (
            "app.py",
            "pages/*.py",
            ".streamlit/config.toml",
            "benchmarks/papers/**/*.csv",
            "benchmarks/papers/*.py",
        ),
        "kmviz/app",
    )
    for pattern, place in {**places, "sample_data/*.npz": "kmviz"}.items():
        files = [path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern)]
        assert files
        assert {f"{place}/{file}" for file in files} <= carried
    own = {p.relative_to(ROOT).as_posix() for p in ROOT.glob("kmviz/**/*.*")}
    own = {name for name in own if "__pycache__" not in name}
    assert own <= carried


def test_the_source_distribution_is_complete(tmp_path):
    build = "from hatchling.build import build_sdist; print(build_sdist({!r}))"
    name = python(build.format(str(tmp_path))).splitlines()[-1]
    with tarfile.open(tmp_path / name) as archive:
        carried = {member.partition("/")[2] for member in archive.getnames()}
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    left_out = {name for name in tracked if (ROOT / name).exists()} - carried
    assert left_out == set()
    assert {"Makefile", "benchmarks/run.py", "tests/test_packaging.py", "README.md"} <= carried


def test_an_installed_wheel_answers_and_its_pages_draw(installed, tmp_path):
    said = python(
        "import kmviz\nfrom sklearn.svm import SVC\ndata = kmviz.datasets.load('banana')\n"
        "svc = SVC(C=10).fit(data.X_train, data.y_train)\n"
        "clf = kmviz.ExactClassifier(svc).fit(data.X_train, data.y_train)\n"
        "print(kmviz.__file__)\n"
        "print((clf.predict(data.X_test) == svc.predict(data.X_test)).all())\n"
        "from streamlit.testing.v1 import AppTest\nfrom kmviz.io.places import app_folder\n"
        "app = AppTest.from_file(str(app_folder() / 'app.py'), default_timeout=120).run()\n"
        "drawn = {c.proto.id.rsplit('-', 1)[-1] for c in app.get('bidi_component')}\n"
        "wanted = {'live_boundary_boundary', 'live_effort_effort'}\n"
        "print([e.message for e in app.exception], len(drawn & wanted))\n"
        "app.switch_page('pages/7_Papers.py').run()\n"
        "print([e.message for e in app.exception], len(app.dataframe))",
        str(installed), tmp_path, PYTHONPATH="",
    ).splitlines()  # fmt: skip
    assert Path(said[0]).is_relative_to(installed.parents[1])
    assert said[1] == "True"
    assert said[-2:] == ["[] 2", "[] 1"]


def test_an_installed_wheel_starts_the_app_from_anywhere(installed, tmp_path):
    port, log = free_port(), tmp_path / "log.txt"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [installed.with_name("kmviz"), "app", "--port", str(port)], cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": ""}, stdout=output, stderr=output,
        )  # fmt: skip
        try:
            wait_until_healthy(f"http://localhost:{port}", process, log)
        finally:
            process.terminate()
            process.wait(timeout=30)
    assert "Traceback" not in log.read_text()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)


#: Hides what a bare installation has not; the rest is what production does.
BARE = """
import sys, importlib.util
HIDDEN = ("streamlit", "plotly", "pandas", "pyarrow")
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Hidden())
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *a: None if name in HIDDEN else found(name, *a)
import numpy as np
from sklearn.svm import SVC
import kmviz
X = np.random.default_rng(0).normal(size=(600, 2))
svc = SVC(gamma=2.0).fit(X[:200], X[:200, 0] > X[:200, 1] ** 2)
fast = kmviz.accelerate(svc, X[200:], max_disagreement=0.05)
kmviz.save(fast, sys.argv[1])
assert (kmviz.load(sys.argv[1]).predict(X) == fast.predict(X)).all()
try:
    kmviz.compare
except ImportError as error:
    print(error)
from kmviz.__main__ import main
sys.argv[1:] = ["data", "list"]
print(main())
"""


def test_production_needs_no_pandas(tmp_path):
    said = subprocess.run(
        [sys.executable, "-c", BARE, str(tmp_path / "fast.skops")], capture_output=True, text=True,
        cwd=Path(__file__).parents[1], check=False,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    assert said.stdout.splitlines() == [
        "kmviz.compare needs pandas: pip install pandas pyarrow", "2"
    ]  # fmt: skip
    assert "pandas is missing: pip install pandas pyarrow" in said.stderr


def test_no_text_tells_to_install_another_projects_package():
    """On the public index `kmviz` is a tool for biological sequences."""
    foreign = re.compile(r"pip install\s+['\"]?kmviz(?!-svm)")
    found = [path for path, text in texts() if foreign.search(text)]
    assert found == []


def texts() -> Iterator[tuple[Path, str]]:
    """Give every text of the checkout that people read or run."""
    kinds = {".py", ".md", ".rst", ".txt", ".toml", ".cff", ".js", ".html", ".css", ""}
    for top in ROOT.iterdir():
        if top.name == "site" or (top.name.startswith(".") and top.name != ".ci"):
            continue  # what a tool wrote
        for path in top.rglob("*") if top.is_dir() else [top]:
            if path.is_file() and path.suffix in kinds:
                yield path, path.read_text("utf-8")
