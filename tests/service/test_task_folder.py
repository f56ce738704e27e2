"""Tasks appear, change and disappear in one step, and every process sees the same."""

import os

import pytest
from helpers_photos import draw_photos

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.loading import fit_task
from samovar.classifier.task_file import TaskInfo
from samovar.classifier.user_inputs import read_inputs
from samovar.service.models import DEVICE, Models
from samovar.service.problems import Problem, problem_of
from samovar.service.task_folder import FILE, NEW, OLD, TaskFolder


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = draw_photos(tmp_path_factory.mktemp("photos"), {"bars": 2, "disc": 2}, side=64)
    paths = sorted(folder.rglob("*.jpg"))
    saved = Models("photos").ready(None)
    read = read_inputs(paths, saved, "photos")
    labels = [path.parent.name for path in paths]
    info = TaskInfo("photos", saved.identity, AnswerParameters())
    return fit_task(saved, DEVICE, read.inputs, labels), info


def test_a_second_process_sees_what_the_first_has_done(tmp_path, fitted):
    first, second = TaskFolder(tmp_path, 10), TaskFolder(tmp_path, 10)
    task_id = first.create(*fitted)
    assert second.ids() == [task_id]
    seen = second.load(task_id)
    assert second.load(task_id) is seen, "it is kept ready"
    with first.changing(task_id) as task:
        first.replace(task, *task.without({0}))
    assert second.load(task_id).counts == [1, 2]
    first.delete(task_id)
    with pytest.raises(Problem, match="There is no task"):
        second.load(task_id)
    with pytest.raises(Problem, match="There is no task"):
        second.delete(task_id)


@pytest.mark.parametrize(
    "bad", ["", "..", "../x", "0" * 15, "G" * 16, "0" * 16 + "/..", "0" * 16 + "\n"]
)
def test_no_name_but_an_id_becomes_a_path(tmp_path, bad):
    folder = TaskFolder(tmp_path / "tasks", 10)
    with pytest.raises(Problem, match="There is no task"):
        folder.path(bad)


def test_a_task_that_cannot_be_written_leaves_nothing_behind(tmp_path, fitted):
    folder = TaskFolder(tmp_path, 10)

    class Fails(list):
        def __iter__(self):
            raise OSError("no space left")

    with pytest.raises(OSError, match="no space"):
        folder.create(*fitted, Fails())
    assert list(tmp_path.iterdir()) == []


def test_leftovers_of_a_killed_server_are_removed_but_not_work_that_goes_on(tmp_path, fitted):
    task_id = TaskFolder(tmp_path, 10).create(*fitted)
    for name in (f"{OLD}{task_id}", f"{NEW}a", f"{NEW}b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / FILE).write_bytes(b"half")
    os.utime(tmp_path / f"{NEW}a", (0, 0))
    again = TaskFolder(tmp_path, 10)
    assert again.ids() == [task_id]
    assert {path.name for path in tmp_path.iterdir()} == {task_id, f"{NEW}b"}


def test_a_damaged_file_is_a_problem_that_can_be_deleted(tmp_path, fitted):
    folder = TaskFolder(tmp_path, 10)
    task_id = folder.create(*fitted)
    folder.path(task_id).write_bytes(b"damaged")
    with pytest.raises(Problem, match="cannot be read") as refused:
        folder.load(task_id)
    assert refused.value.status == 409
    assert str(tmp_path) not in refused.value.detail
    folder.delete(task_id)
    assert folder.ids() == []


def test_a_folder_that_cannot_be_written_is_a_problem_of_the_server(tmp_path, fitted):
    folder = TaskFolder(tmp_path, 10)
    tmp_path.joinpath("gone").mkdir()
    folder.root = tmp_path / "gone"
    folder.root.rmdir()
    with pytest.raises(OSError, match="gone") as refused:
        folder.create(*fitted)
    assert problem_of(refused.value).status == 507


def test_there_is_a_most_of_tasks(tmp_path, fitted):
    folder = TaskFolder(tmp_path, 1)
    folder.create(*fitted)
    with pytest.raises(Problem, match="1 tasks already") as refused:
        folder.create(*fitted)
    assert refused.value.status == 409
