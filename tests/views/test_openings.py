"""What a data set opens with."""

import pytest

from benchmarks.defaults import query
from kmviz import datasets
from kmviz.views import openings
from kmviz.views.controls import SHARED, read as read_url

#: Sets whose machine takes seconds, or that have no rows of their own.
LONG = {"mnist", "two_spirals", "checkerboard", "ndcc", "splice", "image", "sketch"}


def read(**url):
    opening = {"data": "banana", "query": "4"}
    return read_url(tuple(SHARED), url, openings.defaults(tuple(SHARED), url, opening))[0]


@pytest.mark.parametrize("name", sorted(set(datasets.names()) - LONG))
def test_a_set_opens_with_its_first_easy_query(name):
    assert query(name) == openings.QUERIES.get(name, 0)


def test_an_easy_query_goes_with_the_machine_and_the_rows_that_make_it_easy():
    easy = openings.QUERIES["mnist"]
    assert easy > 0
    assert read(data="mnist")["query"] == read(data="mnist", pair="3-8")["query"] == easy
    for other in ({"pair": "4-9"}, {"C": "1"}, {"kernel": "linear"}, {"n": "500"}, {"seed": "3"}):
        assert read(data="mnist", **other)["query"] == 0
    assert read(data="mnist", query="3")["query"] == 3
    assert read()["query"] == 4
