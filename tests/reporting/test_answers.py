"""Rows, table and CSV say the same of each image."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from samovar.classifier.answer import Answer, Uncertainty
from samovar.reporting.answers import COLUMNS, answer_rows, answers_table, write_csv

CLASSES = ("cat", "do,g", 3)
PATHS = [Path("a.png"), Path("b.png")]


def answer_with(information) -> Answer:
    return Answer(
        labels=np.array(["cat", "none of these"], dtype=object),
        probabilities=np.array([[0.7, 0.2, 0.1], [0.3, 0.45, 0.25]]),
        uncertainty=Uncertainty(np.array([0.8, 1.0]), information),
        rejected=np.array([False, True]),
        distance=np.array([0.1, 0.9]),
    )


def printed(table) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(table)
    return " ".join(console.file.getvalue().split())


def test_rows_have_the_keys_of_the_json_and_survive_it():
    rows = answer_rows(PATHS, answer_with(np.array([0.1, 0.2])), CLASSES)
    stored = json.loads(json.dumps([row.to_json() for row in rows]))
    assert stored[1] == {
        "image": "b.png",
        "label": "none of these",
        "best": "do,g",
        "probabilities": {"cat": 0.3, "do,g": 0.45, "3": 0.25},
        "entropy": 1.0,
        "mutual_information": 0.2,
        "rejected": True,
        "distance": 0.9,
    }


@pytest.mark.parametrize("information", [None, np.array([0.1, 0.2])])
def test_csv_can_be_read_back(information):
    rows = answer_rows(PATHS, answer_with(information), CLASSES)
    file = io.StringIO()
    write_csv(file, rows, CLASSES)
    file.seek(0)
    lines = list(csv.DictReader(file))
    assert list(lines[0]) == [*COLUMNS, "cat", "do,g", "3"]
    assert [line["label"] for line in lines] == ["cat", "none of these"]
    assert [line["rejected"] for line in lines] == ["False", "True"]
    assert [float(line["do,g"]) for line in lines] == [0.2, 0.45]
    expected = ["", ""] if information is None else ["0.100000", "0.200000"]
    assert [line["mutual_information"] for line in lines] == expected


def test_the_table_names_the_threshold_where_there_is_one():
    rows = answer_rows(PATHS, answer_with(None), CLASSES)
    text = printed(answers_table(rows, "a [note]", 0.5))
    assert "images with a distance above 0.500 are rejected" in text
    assert "a [note]" in text
    assert "70% cat" in text
    assert "above" not in printed(answers_table(rows, "nothing is rejected", None))


def test_hostile_names_are_harmless_in_the_table_and_in_csv():
    classes = ("=1+1", "\x1b[31mred", "[/bold]")
    rows = answer_rows([Path("=cmd.png"), Path("\x1b]0;x.png")], answer_with(None), classes)
    file = io.StringIO()
    write_csv(file, rows, classes)
    file.seek(0)
    lines = list(csv.DictReader(file))
    assert [line["image"] for line in lines] == ["'=cmd.png", "?]0;x.png"]
    assert list(lines[0])[-3:] == ["'=1+1", "?[31mred", "[/bold]"]
    assert "\x1b" not in printed(answers_table(rows, "a \x1b[31mnote", 0.5))
