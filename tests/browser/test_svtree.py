"""The Support vector tree page as a person meets it."""

from playwright.sync_api import expect

from tests.browser.harness import click_point, parameter, press, shown

PAGE = "/Support_Vector_Tree"


def layer(page, key, name):
    """The number of the trace with this name."""
    return page.evaluate(
        """([key, name]) => document.querySelector(`.st-key-${key} .js-plotly-plot`)
                            .data.findIndex(t => t.name === name)""",
        [key, name],
    )


def test_a_cold_deep_link_then_height_point_and_node(visit):
    page = visit(f"{PAGE}?height=6&split=exact")
    assert shown(page, "height") == "6"
    for key in ("tree_map", "tree_path", "tree_sum", "tree_heights"):
        assert page.locator(f".st-key-{key} .main-svg").count() > 0

    press(page, "height", "ArrowLeft")
    assert parameter(page, "height", "5")

    click_point(page, "tree_map", trace=layer(page, "tree_map", "queries"), point=30)
    chosen = parameter(page, "query")
    assert page.get_by_text(f"Query {chosen}").count() >= 1

    name = "node (area: training rows)"
    click_point(page, "tree_path", trace=layer(page, "tree_path", name), point=1)
    assert parameter(page, "node", "1")
    expect(page.get_by_text("Node 1:")).to_have_count(1)
    assert parameter(page, "query", chosen)
