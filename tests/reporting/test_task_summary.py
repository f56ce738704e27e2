"""The table of a task has its classes and what leave-one-out has found."""

import io
from pathlib import Path

import pytest
import torch
from rich.console import Console

from samovar.classifier.fitted_task import FittedTask
from samovar.classifier.leave_one_out import LeaveOneOut
from samovar.classifier.regression_task import RegressionTask
from samovar.reporting.task_summary import TaskSummary


def printed(labels, measured) -> str:
    task = FittedTask.of(torch.zeros(len(labels), 2), labels)
    console = Console(file=io.StringIO(), width=200)
    console.print(TaskSummary.of(Path("t.safetensors"), "glyphs", task, measured).table())
    return " ".join(console.file.getvalue().split())


def test_classes_are_counted_and_markup_is_harmless():
    text = printed(["[bold]a", "[bold]a", "b\x1b"], None)
    assert "t.safetensors (model glyphs)" in text
    assert "[bold]a │ 2" in text
    assert "b? │ 1" in text


def test_many_classes_are_cut_short():
    assert "... and 3 more" in printed(list(range(53)), None)
    assert "more" not in printed(list(range(50)), LeaveOneOut(50, 1.0, None))


@pytest.mark.parametrize(
    ("labels", "measured", "words"),
    [
        ("ab", None, "leave-one-out: not measured"),
        ("ab", LeaveOneOut(4, 0.75, None), "on 4 support images: 75% right"),
        ("ab", LeaveOneOut(4, 0.75, 0.25), "on 4 support images: 75% right, 25% rejected"),
        ("a", LeaveOneOut(4, 1.0, 0.25), "on 4 support images: 25% rejected"),
        ("a", LeaveOneOut(4, 1.0, None), "on 4 support images: one class, and nothing is rejected"),
    ],
)
def test_leave_one_out_says_what_it_can_tell(labels, measured, words):
    assert words in printed(list(labels), measured)


def test_it_says_what_the_file_holds_and_its_size(tmp_path):
    assert "the file holds sums of features of 2 classes and no images" in printed(["a", "b"], None)
    task = RegressionTask.of(torch.ones(3, 7), ["a", "a", "b"])
    path = tmp_path / "t.safetensors"
    for size, words in ((10, "(1 kB)"), (128_800, "(129 kB)"), (10_258_752, "(10.3 MB)")):
        path.write_bytes(bytes(size))
        caption = TaskSummary.of(path, "photos", task, None).table().caption
        assert f"the file holds 3 vectors of 7 numbers and no images {words}" in caption
