"""The Start page as a person meets it."""

import re

from playwright.sync_api import expect

from kmviz.ui.shell.frame import STYLE
from tests.browser.harness import (
    click_spot,
    drawn,
    parameter,
    parameters,
    press,
    settle,
    shown,
    slider,
)


def heading(page) -> str:
    return page.locator("h1").first.inner_text()


def test_a_cold_deep_link_rebuilds_the_view(visit):
    page = visit("/?data=banana&kernel=rbf&C=10&gamma=0.5")
    assert heading(page) == "What does one answer cost?"
    assert shown(page, "C") == "10"
    assert shown(page, "gamma") == "0.5"
    for key in ("boundary", "effort"):
        assert drawn(page, key).is_visible()
    assert parameters(page) == {"data": "banana", "kernel": "rbf", "C": "10", "gamma": "0.5"}


def test_a_click_on_a_point_makes_it_the_query(visit):
    page = visit()
    click_spot(page, "effort", layer=0, point=5)
    chosen = parameter(page, "query")
    expect(page.get_by_text(f"Query {chosen} ")).to_have_count(1)
    assert page.locator(".st-key-query input").input_value() == chosen
    press(page, "C", "ArrowRight")
    assert parameters(page)["query"] == chosen, "the choice survives another C"


def test_a_click_on_the_map_makes_the_nearest_test_row_the_query(visit):
    page = visit()
    click_spot(page, "boundary", layer=4, point=40)
    expect(page.get_by_text(re.compile(rf"Query {parameter(page, 'query')} "))).to_have_count(1)


def test_back_undoes_a_choice(visit):
    page = visit("/?data=two_moons&C=10")
    press(page, "C", "ArrowRight")
    assert parameter(page, "C", "30")
    page.go_back()
    settle(page)
    assert parameter(page, "C", "10")
    assert shown(page, "C") == "10"
    page.go_forward()
    settle(page)
    assert shown(page, "C") == "30"


def test_a_quick_hand_is_not_undone_by_a_slow_url(visit):
    page = visit("/?data=checkerboard&C=10")
    for _ in range(3):
        slider(page, "C").press("ArrowLeft")
        page.wait_for_timeout(120)
    settle(page)
    settle(page)
    assert shown(page, "C") == "0.3"
    assert parameter(page, "C", "0.3")


def test_choices_hold_from_page_to_page_and_back_returns(visit):
    page = visit("/?data=two_moons&C=3&query=7")
    menu = page.locator('[data-testid="stSidebar"] [data-testid="stPageLink-NavLink"]')
    menu.filter(has_text="Anytime bounds").click()
    page.wait_for_function("() => location.pathname !== '/'")
    settle(page)
    told = parameters(page)
    assert (told["data"], told["C"], told["query"]) == ("two_moons", "3", "7")
    assert shown(page, "C") == "3"
    page.go_back()
    page.wait_for_function("() => location.pathname === '/'")
    settle(page)
    assert heading(page) == "What does one answer cost?"
    assert shown(page, "C") == "3"


def test_a_malformed_url_shows_the_defaults_and_says_so(visit):
    off = "data=%00%FF&kernel=1&C=ten&gamma=-3&query=none&pair=--&n=0x10&seed=1e99"
    page = visit(f"/?{off}&lesson=%00&part=x")
    expect(page.get_by_text("The data: banana")).to_have_count(1)
    assert shown(page, "C") == "0.3"
    expect(page.get_by_text("Not possible here:")).to_contain_text("C=ten (0.3 is used)")


def test_the_copied_link_rebuilds_the_view(visit, context):
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit("/?data=two_moons&C=3")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_have_count(1)
    link = page.evaluate("() => navigator.clipboard.readText()")
    other = visit(link[link.index("/?") :])
    expect(other.get_by_text("The data: two moons")).to_have_count(1)
    assert shown(other, "C") == "3"


def test_a_page_is_reset_to_the_settings_of_its_data_set(visit):
    page = visit("/?data=two_moons&C=3&gamma=0.5")
    press(page, "C", "ArrowRight")
    page.get_by_role("button", name="Reset this page").click()
    settle(page)
    assert parameter(page, "C", "100")
    assert (shown(page, "C"), shown(page, "gamma")) == ("100", "2")
    assert parameters(page)["data"] == "two_moons"
    page.go_back()
    settle(page)
    assert shown(page, "C") == "10"


def test_every_element_of_streamlits_that_the_style_names_is_there(visit):
    names = re.findall(r'data-testid="(\w+)"', STYLE.read_text("utf-8"))
    assert len(names) <= 12
    page = visit("/?data=two_moons&n=120")
    for name in names:
        assert page.get_by_test_id(name).count() > 0, name


def test_pictures_follow_a_change_of_the_theme(visit):
    page = visit("/Nearest_Support_Vectors?data=banana", dark=True)
    ink = """() => document.querySelector('.st-key-tradeoff .js-plotly-plot').layout.font.color"""
    assert page.evaluate(ink) == "#E8ECF2"
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"() => ({ink})() === '#1C2430'")


BROKEN = {
    "empty.csv": (b"", "empty"),
    "one_class.csv": (b"a,target\n1,x\n2,x\n3,x\n", "one class"),
    "pickle.csv": (b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x04evil\x94.", "pickle"),
}


def test_a_broken_or_oversize_upload_says_what_is_wrong(visit, tmp_path):
    page = visit()
    page.get_by_text("Use your own data").click()
    for name, (content, says) in BROKEN.items():
        upload(page, {"name": name, "mimeType": "text/csv", "buffer": content})
        error = page.locator('[data-testid="stAlert"]').filter(has_text=re.compile(says, re.I))
        expect(error).to_have_count(1)
        expect(page.get_by_text("The data: banana")).to_have_count(1)
    big = tmp_path / "big.csv"
    big.write_bytes(b"1,2\n" * (13 * 2**20))
    upload(page, big)
    expect(page.get_by_text(re.compile("must be 50", re.I))).to_have_count(1)


def test_an_upload_becomes_the_data_and_its_target_can_be_chosen(visit, sample_csv):
    page = visit()
    page.get_by_text("Use your own data").click()
    upload(page, sample_csv)
    expect(page.get_by_text("The data: flowers")).to_have_count(1)
    assert parameter(page, "data", "upload")
    expect(page.get_by_text("is in use on all pages")).to_have_count(1)


def upload(page, file) -> None:
    page.locator('[data-testid="stFileUploaderDropzone"] input').set_input_files(file)
    page.wait_for_timeout(800)
    settle(page)
