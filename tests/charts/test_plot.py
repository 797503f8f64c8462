"""Pictures outside the app: from a result to a figure with real colours."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.svm import SVC

import kmviz
from kmviz.charts import theme

X, Y = make_moons(160, noise=0.25, random_state=0)


def fitted(name, **options):
    clf = getattr(kmviz, name)(**options)
    if "random_state" in clf.get_params():
        clf.set_params(random_state=0)
    return clf.fit(X, Y)


def things():
    nsv, tree = fitted("NSVClassifier"), fitted("SVTreeClassifier")
    rows = (X[:80], Y[:80], X[80:], Y[80:])
    return {
        "trajectory": nsv.trace(X[0]),
        "bounds": fitted("AnytimeClassifier").trace(X[0]),
        "path": tree.trace(X[0]),
        "running sum": fitted("ExactClassifier").trace(X[0]),
        "reduced": fitted("ReducedSetClassifier", n_vectors=6).trace(X[0]),
        "local": fitted("FaLKClassifier", n_neighbors=40).trace(X[0]),
        "effort": nsv.study(X),
        "reading": nsv.study(X).read(),
        "frontier": kmviz.compare(SVC(), *rows, ["svtree", "anytime"], time=False),
        "boundary": nsv.machine_,
    }


THINGS = things()


@pytest.mark.parametrize("name", THINGS)
@pytest.mark.parametrize("look", ["light", "dark"])
def test_every_result_has_a_picture_in_real_colours(name, look):
    figure = kmviz.plot(THINGS[name], theme=look)
    assert "#0000" not in figure.to_json(), "no colour that the app alone would fill in"
    assert figure.layout.paper_bgcolor == theme.PALETTES[look][theme.PAPER]
    assert len(figure.data) > 0
    assert "plotly" in figure.to_html(include_plotlyjs=False).lower()


def test_figures_hold_the_records_numbers():
    trace = THINGS["bounds"]
    assert kmviz.plot(trace, "bounds").layout.annotations[1].text.endswith(f" {trace.stop}")
    study = THINGS["effort"]
    spots = kmviz.plot(study, kind="effort_map").data
    assert sum(len(part.x) for part in spots) == len(study.X)
    darkest = [part for part in spots if len(part.x)][-1]
    steps = study.read().steps
    most = np.asarray(study.X)[np.argmax(steps)]
    assert most[0] in darkest.x
    exact = THINGS["running sum"]
    np.testing.assert_allclose(kmviz.plot(exact).data[0].y, exact.partial, rtol=1e-6)


def test_what_has_no_picture_is_told_so():
    with pytest.raises(TypeError, match="no picture of a dict"):
        kmviz.plot({})
    with pytest.raises(ValueError, match="kind of a NSVTrace must be one of 'trajectory'"):
        kmviz.plot(THINGS["trajectory"], kind="boundary")
    with pytest.raises(ValueError, match="theme must be one of light, dark"):
        kmviz.plot(THINGS["trajectory"], theme="pink")


def test_records_and_promises_show_themselves_in_a_notebook():
    assert "<b>NSVTrace</b>: exact" in THINGS["trajectory"]._repr_html_()
    assert "<table" in THINGS["reading"]._repr_html_()
    promise = kmviz.accelerate(SVC().fit(X[:60], Y[:60]), X[60:], method="exact").promise_
    assert "certified" in promise._repr_html_()


@pytest.mark.parametrize("name", ["effort", "reading"])
def test_nearest_support_vectors_have_the_papers_figure_3(name):
    figure = kmviz.plot(THINGS[name], kind="figure_3")
    assert figure.layout.yaxis.title.text == "exact output f(x)"
