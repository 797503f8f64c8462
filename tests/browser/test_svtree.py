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


def point_at(page, key, trace, point):
    """Move the pointer to a marker of a chart."""
    chart = page.locator(f".st-key-{key}").first
    chart.scroll_into_view_if_needed()
    x, y = chart.evaluate(
        """(element, [trace, point]) => {
            const plot = element.querySelector('.js-plotly-plot');
            const { xaxis, yaxis } = plot._fullLayout;
            const box = plot.getBoundingClientRect();
            const { x, y } = plot._fullData[trace];
            return [box.x + xaxis._offset + xaxis.d2p(x[point]),
                    box.y + yaxis._offset + yaxis.d2p(y[point])];
        }""",
        [trace, point],
    )
    page.mouse.move(x - 40, y)
    page.mouse.move(x, y, steps=3)


def test_what_is_under_the_pointer_shows_its_region(visit):
    page = visit(f"{PAGE}?height=4&split=exact")
    region = page.locator(".st-key-tree_map .kmviz-region")
    name = "node (area: training rows)"
    point_at(page, "tree_path", layer(page, "tree_path", name), 1)
    expect(region).to_have_attribute("data-node", "1")
    expect(region.locator("text")).to_have_text("node 1, path 0 → 1")

    point_at(page, "tree_map", layer(page, "tree_map", "the query"), 0)
    ends = page.evaluate(
        """() => [...document.querySelector('.st-key-tree_path .js-plotly-plot')
                  ._fullData.find(t => t.name === 'asked on the path').customdata].pop()"""
    )
    expect(region).to_have_attribute("data-node", str(ends))
    page.mouse.move(2, 2)
    expect(region).to_have_count(0)


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
