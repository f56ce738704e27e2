"""The questions choose anew after each label, understand what is typed, and lose nothing."""

from pathlib import Path

import pytest
import torch
from helpers_photos import clouds, draw_photos, small_regression
from rich.console import Console

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_regression import fit_regression
from samovar.classifier.support_names import SupportNames
from samovar.classifier.task_file import read_task
from samovar.classifier.user_inputs import UserInputs
from samovar.cli.fit_support import Start
from samovar.cli.next_interactive import Questions, understood, unlabelled
from samovar.data.images.image_file import ImageFile


def questions(tmp_path: Path, typed: list[str]) -> Questions:
    vectors, labels = clouds(classes=2, each=3)
    names = ["cat" if label else "dog" for label in labels]
    saved = small_regression()
    fitted = fit_regression(saved, list(torch.from_numpy(vectors)), names)
    digests = tuple(f"{number:016x}" for number in range(6))
    earlier = SupportNames(tuple(f"{number}.jpg" for number in range(6)), tuple(names), digests)
    start = Start("photos", "", saved, AnswerParameters(), fitted, earlier)
    folder = draw_photos(tmp_path, {"disc": 6}, side=40)
    files = [ImageFile.at(path) for path in sorted((folder / "disc").glob("*.jpg"))]
    heap = list(torch.from_numpy(clouds(seed=2, classes=2, each=3)[0]))
    read = UserInputs(files, heap, [], list(range(6)))
    known = {file.name: f"f{number:015x}" for number, file in enumerate(files)}
    answers = iter(typed)

    def ask(_: str) -> str:
        for answer in answers:
            return answer
        raise EOFError

    console = Console(width=120)
    return Questions(tmp_path / "t.safetensors", start, read, known, ask, console)


def test_each_answer_is_in_the_task_file_before_the_next_question(tmp_path, capsys):
    asked = questions(tmp_path, ["cat", "bird", "2"])
    assert asked.ask(10) == 3
    task, info = read_task(tmp_path / "t.safetensors")
    assert sorted(task.labels) == ["bird"] + ["cat"] * 5 + ["dog"] * 3
    assert len(info.support.names) == 9
    printed = capsys.readouterr().out
    assert "of 6 photos right" in printed
    assert "of 8 photos right" in printed, "a class of one image cannot be left out"


def test_no_photo_is_asked_for_twice_and_skipped_ones_do_not_count(tmp_path):
    asked = questions(tmp_path, ["-", "cat", "-", "dog", "cat", "-", "cat", "cat"])
    assert asked.ask(10) == 3
    assert asked.left == []


def test_the_end_of_input_and_q_end_it(tmp_path):
    assert questions(tmp_path / "a", []).ask(3) == 0
    assert questions(tmp_path / "b", ["q", "cat"]).ask(3) == 0
    assert not (tmp_path / "b" / "t.safetensors").exists()


def test_at_most_the_wanted_number_is_asked(tmp_path):
    assert questions(tmp_path, ["cat"] * 6).ask(2) == 2


@pytest.mark.parametrize(
    ("typed", "label"),
    [("", "dog"), ("2", "dog"), (" cat ", "cat"), ("9", "9"), ("q", None), ("-", "-"), ("7", 7)],
)
def test_what_is_typed_is_understood(typed, label):
    assert understood(typed, ["cat", "dog", 7], "dog") == label


def test_enter_skips_a_photo_that_is_none_of_these():
    assert understood("", ["cat"], None) == "-"


def test_known_photos_are_left_out_by_their_content():
    files = [ImageFile("a", bytes), ImageFile("b", bytes)]
    read = UserInputs(files, [torch.zeros(1), torch.ones(1)], [], [0, 1])
    earlier = SupportNames(("x",), ("cat",), ("0000",))
    new = unlabelled(read, {"a": "0000", "b": "1111"}, earlier)
    assert ([file.name for file in new.read.files], new.known) == (["b"], 1)
    assert unlabelled(read, {"a": "0000", "b": "1111"}, None).known == 0
