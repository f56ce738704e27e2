"""A source says what it is, and its downloads are named by their address."""

from pathlib import Path

import pytest

from samovar.data.sources.base import Download, Source, missing
from samovar.data.sources.registry import REGISTRY


def open_nothing(_root, _settings):
    raise NotImplementedError


def test_a_download_is_named_by_the_end_of_its_address():
    assert Download("https://example.org/a/data.zip", "0").name == "data.zip"


def test_facts_of_a_source_are_what_a_store_records():
    source = Source("x", "An x", "CC0", "X 2020", open=open_nothing, inverted=True)
    assert source.facts() == {
        "source_name": "x",
        "title": "An x",
        "licence": "CC0",
        "citation": "X 2020",
        "inverted": True,
        "resampling": "bilinear",
    }


@pytest.mark.parametrize("name", REGISTRY)
def test_every_source_has_a_licence_a_citation_and_a_hint_where_it_needs_files(name):
    source = REGISTRY[name]
    assert source.name == name
    assert source.title
    assert source.licence
    assert bool(source.citation) == (source.licence != "yours"), "own data has nothing to cite"
    assert source.root_hint or not source.downloads


def test_nothing_at_a_root_is_an_error_with_the_hint():
    message = str(missing(Path("here"), "Put it there."))
    assert message == "Nothing usable was found at here. Put it there."
