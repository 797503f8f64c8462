"""What a URL may carry: every value comes back as it went, anything off is refused."""

import math

import pytest
from hypothesis import given, strategies as st

from kmviz.views.controls import CONTROLS, Control, read, setting, setting_text, write

COST = Control("Cost", 10.0, low=1e-3, high=1e5)
WHOLE = Control("Row", 0, low=0, high=10**6)
DEGREE = Control("Degree", 3, low=1, high=12)
GAMMA = CONTROLS["gamma"]
SWITCH = Control("Switch", False)
SEVERAL = Control("Several", ["nsv"], dict.fromkeys(("nsv", "anytime", "tree"), ""))


@given(st.floats(1e-3, 1e5))
def test_a_number_survives_the_url(value):
    assert COST.parse(COST.text(value)) == value


@given(st.integers(0, 10**6))
def test_a_whole_number_survives_and_stays_whole(value):
    again = WHOLE.parse(WHOLE.text(value))
    assert again == value
    assert isinstance(again, int)


@pytest.mark.parametrize("name", CONTROLS)
@given(text=st.text())
def test_no_text_can_break_a_control(name, text):
    control = CONTROLS[name]
    try:
        value = control.parse(text)
    except ValueError:
        return
    assert control.allows(value)


@pytest.mark.parametrize("name", CONTROLS)
def test_every_default_is_allowed_and_survives_the_url(name):
    control = CONTROLS[name]
    assert control.allows(control.default)
    text = control.text(control.default)
    assert text is None or control.parse(text) == control.default


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999", "", " ", "2.5", "0", "13", "x"])
def test_what_is_no_such_number_is_refused(text):
    with pytest.raises(ValueError):
        DEGREE.parse(text)
    assert read(("degree",), {"degree": text}, {"degree": 3}) == ({"degree": 3}, {"degree": text})


def test_ten_is_ten_however_written():
    assert {COST.parse(text) for text in ("10", "10.0", "1e1", "+10")} == {10.0}
    assert COST.text(10.0) == "10"


def test_a_word_may_stand_for_no_number_and_is_left_out():
    assert GAMMA.parse("scale") == GAMMA.parse("") == "scale"
    assert GAMMA.text("scale") is None
    assert math.isclose(GAMMA.parse("0.5"), 0.5)
    assert not GAMMA.allows("wide")


def test_a_word_in_place_of_a_number_may_be_written():
    assert CONTROLS["margin"].parse("none") == "none"
    assert CONTROLS["margin"].text("none") == "none"


def test_several_words_keep_their_order_and_are_never_none():
    assert SEVERAL.parse("tree,nsv,unknown") == ["nsv", "tree"]
    assert SEVERAL.text(["nsv", "tree"]) == "nsv,tree"
    with pytest.raises(ValueError, match="cannot be"):
        SEVERAL.parse("")


def test_switches():
    assert [SWITCH.parse(text) for text in ("true", "false")] == [True, False]
    assert SWITCH.text(True) == "true"
    with pytest.raises(ValueError, match="Switch cannot be '1'"):
        SWITCH.parse("1")


def test_a_value_of_another_kind_is_not_allowed():
    assert DEGREE.allows(5)
    assert not any(DEGREE.allows(value) for value in (None, "5", 0, True, math.nan))
    assert not Control("Word", "a", {"a": ""}).allows(None)
    assert not SEVERAL.allows(3)


def test_what_says_nothing_is_left_out_of_the_url():
    assert write(("n", "pair", "query"), {"n": None, "pair": "", "query": 3}) == {"query": "3"}


@pytest.mark.parametrize("text", ["w", "w~x", "nonsense~1", "~", "w~" + "1" * 500])
def test_what_cannot_be_read_is_no_setting(text):
    with pytest.raises(ValueError):
        CONTROLS["a"].parse(text)


def test_every_choice_survives_being_kept():
    values = {name: one.default for name, one in CONTROLS.items() if name not in ("a", "methods")}
    assert setting(setting_text(values)) == values
