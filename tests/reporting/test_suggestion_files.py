"""Suggestions as CSV and as Label Studio's tasks, with names that are data and nothing else."""

import csv
import io
import json
from xml.etree import ElementTree

from rich.console import Console

from samovar.reporting.answers import AnswerRow
from samovar.reporting.suggestion_files import (
    SuggestedImage,
    label_studio_config,
    label_studio_tasks,
    suggestions_csv,
    suggestions_table,
)


def suggested(image: str, information: float | None = 0.2, rejected: bool = False):
    label = "none of these" if rejected else "cat"
    row = AnswerRow(image, label, "cat", {"cat": 0.6, "dog": 0.4}, 0.67, information, rejected, 1.0)
    return SuggestedImage(row, 0.5)


IMAGES = [suggested("/heap/=1.jpg"), suggested("/heap/a b.jpg", None, rejected=True)]


def test_csv_has_a_line_for_each_in_order():
    rows = list(csv.DictReader(io.StringIO(suggestions_csv(IMAGES))))
    assert [row["rank"] for row in rows] == ["1", "2"]
    assert [row["mutual_information"] for row in rows] == ["0.200000", ""]
    assert suggestions_csv([suggested("=HYPERLINK(1)")]).splitlines()[1].startswith("1,'=")


def test_label_studio_gets_predictions_with_score_and_uncertainty():
    tasks = json.loads(label_studio_tasks(IMAGES, "samovar photos", "/files/"))
    assert tasks[0]["data"]["image"] == "/files/heap/%3D1.jpg"
    (prediction,) = tasks[0]["predictions"]
    assert (prediction["score"], prediction["uncertainty"]) == (0.6, 0.2)
    assert tasks[0]["data"]["uncertainty"] == 0.2
    assert tasks[1]["predictions"][0]["uncertainty"] == 0.67, "the entropy, without information"
    other = json.loads(label_studio_tasks(IMAGES, "samovar photos", "https://host/"))
    assert other[1]["data"]["image"] == "https://host/heap/a%20b.jpg"


def test_the_configuration_names_what_the_predictions_name():
    view = ElementTree.fromstring(label_studio_config(["cat", '<"&']))
    control = view.find("Choices")
    result = json.loads(label_studio_tasks(IMAGES, "x", ""))[0]["predictions"][0]["result"][0]
    assert control.get("name") == result["from_name"]
    assert control.get("toName") == result["to_name"] == view.find("Image").get("name")
    assert [choice.get("value") for choice in control] == ["cat", '<"&']


def test_the_table_names_images_and_guesses(capsys):
    Console(width=90).print(suggestions_table(IMAGES))
    printed = capsys.readouterr().out
    assert "=1.jpg" in printed
    assert "60%" in printed
    assert "none of these" in printed
