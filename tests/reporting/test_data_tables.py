"""Prepared data sets as a line, a table and JSON; nothing in them is taken for markup."""

import pytest
from helpers import make_store
from rich.console import Console

from samovar.data.sources.registry import REGISTRY
from samovar.data.store import Store
from samovar.errors import DataError
from samovar.reporting.data_tables import StoreSummary, data_listing, data_table, store_line

SPLIT = {"train": ["class 0", "class 1"], "val": [], "test": ["class 2"]}


@pytest.fixture
def store(tmp_path) -> Store:
    """Three classes of 2, 3 and 4 images."""
    return make_store(tmp_path, [2, 3, 4], (6, 5, 3), SPLIT)


def printed(table) -> str:
    console = Console(width=200)
    with console.capture() as captured:
        console.print(table)
    return captured.get()


def test_a_store_in_one_line(store):
    expected = "toy: 9 images of 6 x 5 x 3 in 3 classes (train / val / test all: 2 / 0 / 1)."
    assert store_line(store) == expected
    store.facts["partial"] = "1 image is missing"
    assert store_line(store) == f"{expected} PARTIAL: 1 image is missing."


def test_vectors_are_called_vectors(tmp_path):
    assert "toy: 4 vectors of 7 in 2 classes" in store_line(make_store(tmp_path, [2, 2], (7,)))


def test_a_store_as_json(store):
    assert StoreSummary.of(store).to_json() == {
        "title": "toy",
        "licence": "none",
        "citation": "none",
        "shape": [6, 5, 3],
        "partial": None,
        "images": 9,
        "classes": 3,
        "bytes": 9 * 6 * 5 * 3,
        "splits": {"all": {"train": 2, "val": 0, "test": 1}},
    }


def test_a_listing_has_what_is_prepared_what_is_damaged_and_all_sources(store, tmp_path):
    listing = data_listing(tmp_path, {"toy": store, "other": DataError("It is damaged.")})
    assert listing["folder"] == str(tmp_path)
    assert listing["prepared"]["toy"]["images"] == 9
    assert listing["prepared"]["other"] == {"error": "It is damaged."}
    assert listing["sources"] == list(REGISTRY)


def test_the_table_has_prepared_data_first_and_then_the_other_sources(store):
    table = printed(data_table({"glyphs": store, "bad": DataError("[red]x[/red] is gone")}))
    lines = table.splitlines()
    assert "prepared: 9 images in 3 classes, 0 MB" in table
    assert "damaged: [red]x[/red] is gone" in table, "names are no markup"
    assert sum("│ glyphs " in line for line in lines) == 1, "what is prepared is not listed again"
    (folder,) = [line for line in lines if "│ folder " in line]
    assert "can be prepared with --root" in folder
    for name in REGISTRY:
        assert f"│ {name} " in table


def test_names_and_facts_do_not_change_the_terminal(store):
    store.facts |= {"title": "\x1b[31m[/red]", "partial": "\x1b]0;x\x07"}
    text = printed(data_table({"\x1b[2J": store, "bad": DataError("\x1b[31m" + "x" * 10**5)}))
    assert "\x1b" not in text
    assert "[/red]" in text
    assert len(text) < 10**5
    assert store_line(store).isprintable()
