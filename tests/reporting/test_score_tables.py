"""A score is told in sentences and tables that fit into 80 columns."""

import csv
import io

import numpy as np
from rich.console import Console

from samovar.classifier.answer import Answer, Uncertainty
from samovar.classifier.score_report import ScoreReport, score_answers
from samovar.reporting.score_tables import print_score, sentences, write_score_csv


def report_of(classes: int, others: int = 1, wrong: int = 3) -> ScoreReport:
    """Four images of each class; the first so many are answered with the next class."""
    names = [f"[bold]class number {number}" for number in range(classes)]
    truths = np.repeat([*names, *(f"other {number}" for number in range(others))], 4)
    best = np.arange(len(truths)) // 4 % classes
    best[:wrong] = (best[:wrong] + 1) % classes
    table = np.full((len(truths), classes), 0.1 / classes)
    table[np.arange(len(truths)), best] = 0.95
    none = np.zeros(len(truths))
    rejected = np.arange(len(truths)) >= 4 * classes + 1
    answer = Answer(np.array(names)[best], table, Uncertainty(none, None), rejected, none)
    files = [f"folder/{position}.jpg" for position in range(len(truths))]
    return score_answers(answer, truths.tolist(), names, files)


def printed(report: ScoreReport) -> str:
    console = Console(file=io.StringIO(), width=80)
    print_score(console, report, "photographs")
    text = console.file.getvalue()
    assert max(len(line) for line in text.splitlines()) <= 80
    return text


def test_few_classes_have_a_table_of_confusions():
    text = printed(report_of(3))
    assert "truth by answer" in text
    assert "[bold]class number 0" in text
    assert "* no class of the task: none of these is the right answer" in text
    assert "folder/0.jpg" in text
    assert "[bold]class nu…" not in text or "answered" in text


def test_many_classes_have_a_list_instead():
    text = printed(report_of(60))
    assert "truth by answer" not in text
    assert "Most often taken for another" in text
    assert "... and 11 more" in text


def test_sentences_are_plain():
    first, honesty, others = sentences(report_of(3), "photographs")
    assert first.startswith("9 of 12 photographs are right: 75.0 % (95 % interval 46.8 to 91.1 %)")
    assert "95% on average, and was right in 75%: too sure" in honesty
    assert others.startswith("3 of 4 photographs of other classes were called none of these")


def test_a_perfect_score_has_no_mistakes():
    text = printed(report_of(2, others=0, wrong=0))
    assert "wrong" not in text
    assert "other classes" not in text


def test_right_means_rejected_where_an_image_belongs_to_no_class():
    file = io.StringIO()
    write_score_csv(file, report_of(2))
    file.seek(0)
    lines = list(csv.DictReader(file))
    assert [line["right"] for line in lines[-4:]] == ["False", "True", "True", "True"]
