"""The Compare page as a person meets it: run, click, arrive; take home and load back."""

import csv
from pathlib import Path

import kmviz
from tests.browser.harness import click_point, parameters, settle

FEW = "/Compare?data=two_moons&n=120&methods=nsv_w50,svtree,linear_svc"


def _trace(page, name: str) -> int:
    return page.evaluate(
        """name => document.querySelector('.st-key-frontier .js-plotly-plot')
                 .data.findIndex(t => t.name === name)""",
        name,
    )


def _download(page, label: str) -> Path:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=label, exact=True).click()
    return Path(waiting.value.path())


def test_a_clicked_point_opens_its_method_with_that_setting(visit):
    page = visit(f"{FEW}&C=30")
    assert page.locator(".st-key-frontier .main-svg").count() > 0
    click_point(page, "frontier", trace=_trace(page, "nearest support vectors"), point=0)
    page.wait_for_url("**/Nearest_Support_Vectors*")
    settle(page)
    told = parameters(page)
    assert (told["w"], told["start"], told["C"]) == ("50", "empty", "30")
    assert page.locator("h1").first.inner_text() == "Nearest support vectors"


def test_what_is_taken_home_can_be_loaded_back(visit, tmp_path):
    page = visit(FEW)
    page.get_by_text("All figures", exact=True).click()
    table = list(csv.DictReader(_download(page, "Table (CSV)").read_text().splitlines()))
    assert [row["method"] for row in table] == ["exact", "nsv_w50", "svtree", "linear_svc"]
    page.get_by_text("Take it home").click()
    settle(page)
    stored = tmp_path / "fast.skops"
    stored.write_bytes(_download(page, "Estimator (.skops)").read_bytes())
    assert kmviz.load(stored).predict([[0.0, 0.0]]).shape == (1,)
    assert "kmviz.save(fast" in _download(page, "Python").read_text()
    assert "<html" in _download(page, "Picture (HTML)").read_text()[:2_000]
