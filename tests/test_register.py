"""Everything that one entry of the register promises, for each entry."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

import kmviz
from kmviz.charts import theme
from kmviz.charts.compare import slots
from kmviz.methods.register import COMPARE, METHODS, families, method_of, method_offering, setting
from kmviz.ui.shell import parts
from kmviz.ui.shell.menu import PAGES
from kmviz.views.compare import link_to
from kmviz.views.controls import CONTROLS, SHARED
from tests.pages.helpers import ROOT, open_page

SETTINGS = [one for method in METHODS for one in method.settings]
PAGES_OF_METHODS = sorted({method.page for method in METHODS} - {"app.py", COMPARE})
X, Y = make_moons(90, noise=0.2, random_state=0)
SMALL = {"data": "two_moons", "n": 150}

every = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
every_setting = pytest.mark.parametrize("one", SETTINGS, ids=lambda one: one.name)


def fitted(one):
    """A setting on a machine of degree 2, which every order of the bounds can be had for."""
    clf = one.make()
    if "estimator" in clf.get_params():
        clf.set_params(estimator=SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0))
    return clf.fit(X, Y)


@every
def test_the_class_is_public_and_found_by_its_instances(method):
    assert getattr(kmviz, method.cls.__name__) is method.cls
    assert method_of(method.cls()) is method
    assert method.title
    assert method.settings


def test_names_are_told_apart():
    for names in ([method.name for method in METHODS], [one.name for one in SETTINGS]):
        assert len(names) == len(set(names))
    assert setting("magic") is None
    assert method_offering("magic") is None


def checked_classes() -> set[str]:
    """The classes that scikit-learn's own checks are run for, by the tests' text."""
    found: set[str] = set()
    for path in Path(ROOT, "tests").rglob("test_*.py"):
        text = path.read_text("utf-8")
        if "parametrize_with_checks" not in text:
            continue
        tree = ast.parse(text)
        assigned = {
            target.id: node.value
            for node in tree.body if isinstance(node, ast.Assign)
            for target in node.targets if isinstance(target, ast.Name)
        }  # fmt: skip
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            if getattr(call.func, "id", "") == "parametrize_with_checks":
                given = assigned.get(getattr(call.args[0], "id", ""), call.args[0])
                calls = (node for node in ast.walk(given) if isinstance(node, ast.Call))
                found |= {getattr(node.func, "id", "") for node in calls}
    return found


def test_every_class_is_under_scikit_learns_checks():
    assert {method.cls.__name__ for method in METHODS} <= checked_classes()


@every
def test_url_parameters_lead_to_parameters_of_the_class(method):
    assert set(method.url.values()) <= set(method.cls().get_params())


@every_setting
def test_a_setting_can_be_made_fitted_and_asked(one):
    clf = fitted(one)
    assert set(one.cut) <= set(clf.get_params())
    assert bool(one.cut) == bool(one.note)
    assert clf.decision_function(X).shape == (len(X),)
    assert clf.steps(X).shape == (len(X),)


@every
def test_flags_say_what_the_class_takes(method):
    parameters = method.cls().get_params()
    assert method.takes_frozen == ("estimator" in parameters)
    assert method.proves_rate == ("confidence" in parameters)
    if method.takes_frozen:
        clf = method.cls(FrozenEstimator(SVC().fit(X, Y))).fit(X, Y)
        assert hasattr(clf, "machine_")
    if method.certified:
        svc = SVC().fit(X, Y)
        clf = method.cls(FrozenEstimator(svc)).fit(X)
        assert (clf.predict(X) == svc.predict(X)).all()


@every
def test_a_trace_is_read_only(method):
    trace = fitted(method.settings[0]).trace(X[0])
    for array in trace.arrays().values():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_every_family_has_a_colour_and_a_symbol_of_its_own():
    found = slots(list(families()))
    assert list(found) == list(families())
    assert len(set(found.values())) == len(found)
    assert max(found.values()) < min(len(theme.COLORS), len(theme.ALL_SYMBOLS)) - 1


@every
def test_its_page_is_in_the_menu(method):
    (page,) = [page for page in PAGES if page.file == method.page]
    assert (ROOT / page.file).exists()
    assert page.title
    assert page.icon.startswith(":material/")
    assert page.line.endswith(".")


@pytest.mark.parametrize("file", PAGES_OF_METHODS)
def test_a_page_is_for_one_method_that_says_what_stands_in_the_menu(file):
    assert len([method for method in METHODS if method.page == file and method.icon]) == 1


@every_setting
def test_a_link_to_a_setting_is_understood_by_its_page(one):
    method = method_offering(one.name)
    if method.page not in PAGES_OF_METHODS:
        assert not method.url
        return
    link = link_to(one.name, n_vectors=60)
    assert set(method.url) <= set(link), "a link says all that the page can show of a setting"
    app = open_page(method.page, **SMALL, kernel="poly", degree=2, gamma=1, **link)
    _, own, _ = app.session_state["kmviz.page"]
    assert set(link) <= set(own)
    for name, text in link.items():
        assert CONTROLS[name].text(CONTROLS[name].parse(text)) == text
    assert app.get("plotly_chart") or app.get("bidi_component")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.title)
def test_a_page_opens_with_its_own_view(page):
    if page.file == "pages/6_Compare.py":
        return  # it measures every method: the test of that page opens it with a few
    app = open_page(page.file)
    _, own, _ = app.session_state["kmviz.page"]
    assert set(page.opening) <= {*SHARED, *own}
    for name, text in page.opening.items():
        assert CONTROLS[name].text(app.session_state[name]) == text
    assert not dict(app.query_params)


def views(method):
    """Links to each setting, and to each other value of a choice or a flag."""
    links = [link_to(one.name, n_vectors=60) for one in method.settings]
    for name in method.url:
        control = CONTROLS[name]
        options = ("true", "false") if isinstance(control.default, bool) else control.options
        if not control.is_number:
            links += [links[0] | {name: text} for text in options if text != links[0][name]]
    return links


@pytest.mark.parametrize("file", PAGES_OF_METHODS)
def test_what_is_taken_home_is_what_the_page_shows(file, monkeypatch):
    made: dict = {}
    monkeypatch.setattr(parts, "_download", lambda label, make, *_: made.update({label: make()}))
    method = next(method for method in METHODS if method.page == file and method.icon)
    for link in views(method):
        open_page(file, **SMALL, **{"kernel": "poly", "degree": 2, "gamma": 1} | link)
        names: dict = {}
        exec(made["Python"], names)
        stored = kmviz.load(made["Estimator (.skops)"])
        (rebuilt,) = (value for value in names.values() if type(value) is method.cls)
        rows = names["X_test"]
        for ask in ("decision_function", "steps"):
            answers = [getattr(clf, ask)(rows) for clf in (rebuilt, stored)]
            np.testing.assert_allclose(*answers, 1e-6, 1e-9, err_msg=f"{ask} with {link}")
