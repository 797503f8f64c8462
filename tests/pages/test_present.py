"""In front of a class: presenting, codes, handouts."""

import re

from kmviz import lessons
from kmviz.charts import Chart, Line, plotly
from kmviz.ui import handout, present
from kmviz.ui.shell import menu
from tests.pages.helpers import open_page, run

COST = lessons.load("cost")
VIEW = COST.parts[0].view | {"lesson": "cost", "part": "1"}


def test_presenting_is_a_part_of_the_link_and_of_the_way_on():
    app = open_page(present="true", **VIEW)
    assert app.button(key="present_end")
    app.button(key="to_cost_2_Next").click()
    run(app)
    assert (app.query_params["part"], app.query_params["present"]) == ("2", "true")
    app.button(key="present_end").click()
    run(app)
    assert "present" not in app.query_params
    assert app.query_params["part"] == "2"
    assert "present_end" not in {button.key for button in app.button}


def test_a_class_votes_by_hands_and_the_answer_is_revealed_without_a_choice():
    app = open_page(present="true", **VIEW)
    app.button(key="lesson_cost_1_reveal").click()
    run(app)
    assert "It keeps 267 of 2,000 points" in app.sidebar.success[0].value
    said = "\n".join(one.value for one in app.sidebar.markdown)
    assert "check_circle:] Those along the edges" in said
    assert "Not quite" not in said
    assert "your choice" not in said


def test_anything_but_true_presents_nothing():
    app = open_page(present="yes", data="sketch")
    assert "present_end" not in {button.key for button in app.button}


def test_a_handout_has_every_question_with_its_picture_and_its_answers_apart():
    app = open_page(**VIEW)
    app.button(key="handout").click()
    run(app)
    saved = app.get("download_button")
    assert "Save the handout" in [one.proto.label for one in saved]
    run(app)
    assert "Save the handout" not in [one.proto.label for one in app.get("download_button")]

    chart = Chart(key="k", alt="a", layers=[Line(x=[0, 1], y=[7, 8], name="line")])
    figures = {"Support vectors": "267", "Kept": "13%", "Training rows": "2,000"}
    page = handout.page(COST, "http://class:8501", [(chart, figures)] * len(COST.parts))
    assert page.count(plotly.script()) == 1, "what draws the pictures is there, once"
    page = page.replace(plotly.script(), "")
    assert page.count("Plotly.newPlot(") == len(COST.parts)
    assert "#0000" not in page, "real colours, on white"
    questions, answers = page.split('<section class="answers">')
    for part in COST.parts:
        assert part.question[:40] in questions
        assert part.answer[-30:] not in questions
        assert part.answer[-30:] in answers
    assert "It keeps 267 of 2,000 points (13%)" in answers
    links = re.findall(r'href="([^"]*)"', questions)
    assert links[1] == handout.link(COST, 2, "http://class:8501").replace("&", "&amp;")
    assert page.count("<svg") == len(COST.parts)
    assert "Plotly" not in answers
    assert "src=" not in page, "nothing is fetched"


def test_links_of_a_handout_lead_to_the_pages():
    assert menu.named("Start").path == ""
    assert menu.named("Nearest support vectors").path == "Nearest_Support_Vectors"


def test_a_link_too_long_for_a_code_has_none():
    assert present.svg("http://localhost/?drawn=" + "A" * 1200).startswith("<svg")
    assert present.svg("x" * 4000) is None


def test_a_class_sees_the_picture_first_that_follows_the_slider():
    views = {}
    for value in ("true", "false"):
        app = open_page("pages/3_Reduced_Set.py", present=value, data="sketch")
        ids = [one.proto.id for one in app.get("bidi_component") if "live_vectors_" in one.proto.id]
        views[value] = [name.rsplit("live_vectors_", 1)[1] for name in ids]
    assert views["true"][1:4] == ["boundary", "reduced_vectors", "reduced_error"]
    assert views["false"][1:4] == ["reduced_vectors", "boundary", "reduced_error"]
