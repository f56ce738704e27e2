"""The plan of sorting is printed with what goes where, and told apart from what was done."""

from pathlib import Path

import pytest
from rich.console import Console

from samovar.classifier.heap_sorter import PlannedPhoto, Undone
from samovar.core.filing import Filing
from samovar.reporting.sorting_tables import MOST_ROWS, plan_json, print_plan, undone_text


def planned(name: str, folder: str) -> PlannedPhoto:
    filing = Filing(f"/heap/{name}", f"{folder}/{name}", "link", 1, 2)
    return PlannedPhoto(Path(f"/heap/{name}"), folder, 0.75, folder, filing)


PHOTOS = [planned("1.jpg", "cat"), planned("[red]2.jpg", "dog"), planned("3.jpg", "cat")]


def test_the_table_names_photos_places_and_counts(capsys):
    print_plan(Console(width=100), PHOTOS, Path("sorted"))
    printed = capsys.readouterr().out
    assert "[red]2.jpg" in printed
    assert "cat/1.jpg" in printed
    assert "75%" in printed
    assert "3 photos: cat 2, dog 1." in printed


def test_a_long_plan_is_cut_and_says_so(capsys):
    photos = [planned(f"{number}.jpg", "cat") for number in range(MOST_ROWS + 5)]
    print_plan(Console(width=100), photos, Path("sorted"))
    printed = capsys.readouterr().out
    assert "... and 5 more" in printed
    assert len(printed.splitlines()) == MOST_ROWS + 3


@pytest.mark.parametrize("applied", [True, False])
def test_json_has_every_photo(applied):
    content = plan_json(PHOTOS, Path("sorted"), applied=applied)
    assert content["applied"] is applied
    assert content["folders"] == {"cat": 2, "dog": 1}
    assert content["photos"][0] == {
        "image": "/heap/1.jpg",
        "label": "cat",
        "probability": 0.75,
        "target": "sorted/cat/1.jpg",
        "by": "link",
    }


def test_what_was_left_is_named():
    undone = Undone(2, (PHOTOS[0].filing,))
    first, second = undone_text(undone, Path("sorted"))
    assert first == "2 photos taken back from sorted."
    assert "sorted/cat/1.jpg" in second
