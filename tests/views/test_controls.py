"""What a URL may carry: every value comes back as it went, anything off is the default."""

import math

import pytest
from hypothesis import given, strategies as st

from kmviz.ui.params import Choice, Flag, Number, Text, Words


@given(st.floats(1e-3, 1e5))
def test_a_number_survives_the_url(value):
    param = Number(10.0, 1e-3, 1e5)
    assert param.read(param.write(value)) == value


@given(st.integers(0, 10**6))
def test_a_whole_number_survives_and_stays_whole(value):
    param = Number(0, 0, 10**6)
    again = param.read(param.write(value))
    assert again == value
    assert isinstance(again, int)


@given(st.text())
def test_no_text_can_break_a_parameter(text):
    number = Number(3, 1, 12).read(text)
    assert 1 <= number <= 12
    assert Choice("a", "b").read(text) in ("a", "b")
    assert Flag(True).read(text) in (True, False)
    assert set(Words("x", "y").read(text)) <= {"x", "y"}
    assert isinstance(Text().read(text), str)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999", "", " ", "2.5", "0", "13", "x"])
def test_what_is_no_such_number_is_the_default(text):
    assert Number(3, 1, 12).read(text) == 3


def test_ten_is_ten_however_written():
    param = Number(1.0, 0, 100)
    assert {param.read(t) for t in ("10", "10.0", "1e1", "+10")} == {10.0}
    assert param.write(10.0) == "10"


def test_a_word_may_stand_for_no_number_and_is_left_out():
    gamma = Number("scale", 1e-6, 1e4, whole=False)
    assert gamma.read(None) == gamma.read("scale") == gamma.read("wide") == "scale"
    assert gamma.write("scale") is None
    assert math.isclose(gamma.read("0.5"), 0.5)


def test_words_keep_their_order_and_are_never_none():
    words = Words("nsv", "anytime", "tree", default=("nsv",))
    assert words.read("tree,nsv,unknown") == ["nsv", "tree"]
    assert words.read("") == words.read(None) == ["nsv"]
    assert words.write(["nsv", "tree"]) == "nsv,tree"


def test_a_default_list_is_not_shared():
    words = Words("a", "b")
    words.read(None).append("c")
    assert words.read(None) == ["a", "b"]


def test_flags():
    assert [Flag(False).read(t) for t in ("true", "false", "1", None)] == [
        True,
        False,
        False,
        False,
    ]
    assert Flag().write(True) == "true"


def test_fits_tells_a_value_of_another_kind():
    assert Number(3, 1, 12).fits(5)
    assert not any(Number(3, 1, 12).fits(v) for v in (None, "5", 0, True, math.nan))
    assert not Choice("a").fits(None)
    assert not Words("a").fits(3)
