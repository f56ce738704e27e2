"""Rows, table and CSV say the same of each image."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from samovar.classifier.answer import Answer, Uncertainty
from samovar.classifier.sets import PredictedSets, SetMethod, SetRequest
from samovar.data.images.user_images import Unreadable
from samovar.reporting.answers import (
    COLUMNS,
    answer_rows,
    answers_footer,
    answers_table,
    explanation,
    json_entries,
    sets_footer,
    with_sets,
    write_csv,
)

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
    assert list(lines[0]) == [*COLUMNS, "p(cat)", "p(do,g)", "p(3)"]
    assert [line["probability"] for line in lines] == ["0.700000", ""]
    assert [line["label"] for line in lines] == ["cat", "none of these"]
    assert [line["rejected"] for line in lines] == ["False", "True"]
    assert [float(line["p(do,g)"]) for line in lines] == [0.2, 0.45]
    expected = ["", ""] if information is None else ["0.100000", "0.200000"]
    assert [line["mutual_information"] for line in lines] == expected


def test_classes_that_are_called_like_columns_do_not_clash():
    classes = ("label", "distance", "image")
    rows = answer_rows(PATHS, answer_with(None), classes)
    file = io.StringIO()
    write_csv(file, rows, classes)
    header = file.getvalue().splitlines()[0].split(",")
    assert len(set(header)) == len(header)
    assert header[-3:] == ["p(label)", "p(distance)", "p(image)"]


def test_names_are_no_formulas_to_a_spreadsheet():
    rows = answer_rows([Path("=cmd.png"), Path("b.png")], answer_with(None), CLASSES)
    file = io.StringIO()
    write_csv(file, rows, CLASSES)
    assert file.getvalue().splitlines()[1].startswith("'=cmd.png,")


def test_the_explanation_names_the_threshold_where_there_is_one():
    text = explanation("a [note]", 0.5, "how far")
    assert "images with a distance above 0.500 are rejected" in text
    assert "a [note]" in text
    assert "above" not in explanation("nothing is rejected", None, "how far")


def test_the_table_has_the_second_choice_where_it_matters():
    rows = answer_rows(PATHS, answer_with(None), CLASSES)
    text = printed(answers_table(rows))
    assert "a.png cat ████ 70% do,g 20%" in text
    assert "b.png none of these nearest: do,g" in text
    sure = replace(rows[0], probabilities={"cat": 0.97, "do,g": 0.03})
    assert "do,g" not in printed(answers_table([sure]))
    alone = replace(rows[0], probabilities={"cat": 1.0})
    assert "100%" in printed(answers_table([alone]))
    assert "0.900 -" in printed(answers_table(rows, explain=True))


def test_the_footer_counts_in_plain_words():
    rows = answer_rows(PATHS, answer_with(None), CLASSES)
    assert answers_footer(rows, "photographs") == "1 of 2 photographs is none of these."
    assert answers_footer(rows[:1]) == ""
    doubtful = replace(rows[0], probabilities={"cat": 0.4, "do,g": 0.35, "3": 0.25})
    text = answers_footer([doubtful, doubtful, rows[1]])
    assert text == "1 of 3 images is none of these. 2 of 3 are doubtful: no class has 50%."


def test_hostile_names_are_harmless_in_the_table_and_in_csv():
    classes = ("=1+1", "\x1b[31mred", "[/bold]")
    rows = answer_rows([Path("=cmd.png"), Path("\x1b]0;x.png")], answer_with(None), classes)
    file = io.StringIO()
    write_csv(file, rows, classes)
    file.seek(0)
    lines = list(csv.DictReader(file))
    assert [line["image"] for line in lines] == ["'=cmd.png", "?]0;x.png"]
    assert list(lines[0])[-3:] == ["p(=1+1)", "p(?[31mred)", "p([/bold])"]
    assert "\x1b" not in printed(answers_table(rows, explain=True))


def test_unreadable_images_have_an_error_in_their_place():
    rows = answer_rows(PATHS, answer_with(None), CLASSES)
    missing = [Unreadable(Path(name), f"{name} is empty") for name in ("x.png", "y.png", "z.png")]
    entries = json_entries(rows, [1, 3], missing)
    assert [entry["image"] for entry in entries] == ["x.png", "a.png", "y.png", "b.png", "z.png"]
    assert entries[2] == {"image": "y.png", "error": "y.png is empty"}
    assert "label" in entries[3]


def test_sets_are_in_json_table_and_csv():
    answer = answer_with(None)
    members = np.array([[True, True, True], [False, False, False]])
    sets = PredictedSets(members, SetRequest(0.95), SetMethod.FULL, "at least 95 %")
    rows = with_sets(answer_rows(PATHS, answer, CLASSES), answer, sets, CLASSES)
    assert rows[0].to_json()["set"] == ["cat", "do,g", "3"]
    assert rows[1].to_json()["set"] == []
    assert rows[1].to_json()["set_by"]["guaranteed"]
    text = printed(answers_table(rows))
    assert "set of 95 %" in text
    assert "cat, do,g +1" in text
    assert "none of these" in text
    assert sets_footer(rows) == (
        "Sets have 1.5 classes on average, and 1 is empty (none of these). "
        "By full conformal: at least 95 %."
    )
    file = io.StringIO()
    write_csv(file, rows, CLASSES)
    lines = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert [line["set"] for line in lines] == ["cat; do,g; 3", ""]
    assert [line["set_size"] for line in lines] == ["3", "0"]
    assert sets_footer(answer_rows(PATHS, answer, CLASSES)) == ""
