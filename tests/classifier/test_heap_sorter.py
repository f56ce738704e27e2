"""A heap is sorted by plan, can be killed at every call, finished and undone; no photo is lost."""

import contextlib
from pathlib import Path

import numpy as np
import pytest
from helpers_filing import everything, killed_at, photos_in, write_photos
from helpers_hostile import mutate
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from samovar.classifier.answer import Answer, Uncertainty
from samovar.classifier.heap_sorter import HeapSorter, finish, sorting_lock, undo
from samovar.classifier.sorting import Folders
from samovar.core.filing_manifest import NAME, FilingManifest
from samovar.errors import DataError, OutputError, SamovarError

WAYS = ("link", "copy", "move")
FOLDERS = Folders.of(["cat", "dog"], "none of these")


def answers(count: int) -> Answer:
    """Answers to so many photos, which take turns."""
    turns = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5], [0.7, 0.3]])
    table = turns[np.arange(count) % 4]
    labels = np.array(["cat", "dog"])[table.argmax(1)]
    rejected = np.arange(count) % 4 == 3
    return Answer(labels, table, Uncertainty(np.zeros(count), None), rejected, table[:, 0])


def sort_all(sorter: HeapSorter, heap: Path) -> None:
    """What `samovar sort --apply` does with the answers above."""
    finish(sorter.into)
    paths = sorted(path for path in heap.rglob("*.jpg"))
    new = sorter.new_photos(paths, FilingManifest.read(sorter.into))
    sorter.apply(sorter.plan(new.paths, answers(len(new.paths))))


@pytest.fixture(params=WAYS)
def sorter(request, tmp_path) -> HeapSorter:
    (tmp_path / "sorted").mkdir()
    return HeapSorter(tmp_path / "sorted", FOLDERS, request.param, 0.6)


NAMES = ["1.jpg", "2.jpg", "3.jpg", "4.jpg", "5.jpg"]


def test_photos_go_where_the_answers_say_and_a_second_run_does_nothing(sorter, tmp_path):
    write_photos(tmp_path / "heap", NAMES)
    sort_all(sorter, tmp_path / "heap")
    places = {str(path.relative_to(sorter.into)) for path in sorter.into.rglob("*.jpg")}
    assert places == {"cat/1.jpg", "dog/2.jpg", "unsure/3.jpg", "none of these/4.jpg", "cat/5.jpg"}
    before = everything(tmp_path)
    sort_all(sorter, tmp_path / "heap")
    assert everything(tmp_path) == before


def test_a_plan_changes_nothing(sorter, tmp_path):
    paths = write_photos(tmp_path / "heap", NAMES)
    before = everything(tmp_path)
    assert len(sorter.plan(paths, answers(5))) == 5
    assert everything(tmp_path) == before


def test_undo_takes_all_back_and_leaves_what_was_changed(sorter, tmp_path):
    write_photos(tmp_path / "heap", NAMES)
    before = everything(tmp_path)
    sort_all(sorter, tmp_path / "heap")
    write_photos(sorter.into / "cat", ["mine.jpg"])
    assert undo(sorter.into).left == ()
    assert everything(tmp_path) == before | {"sorted/cat/mine.jpg": "photo mine.jpg"}
    with pytest.raises(DataError, match="nothing to undo"):
        undo(sorter.into)


def test_a_photo_in_the_way_of_undoing_stays_and_so_does_the_sorted_one(tmp_path):
    sorter = HeapSorter(tmp_path / "sorted", FOLDERS, "move", 0.6)
    sorter.into.mkdir()
    write_photos(tmp_path / "heap", ["1.jpg"])
    sort_all(sorter, tmp_path / "heap")
    (tmp_path / "heap" / "1.jpg").write_text("a new one")
    undone = undo(sorter.into)
    assert [filing.target for filing in undone.left] == ["cat/1.jpg"]
    assert photos_in(tmp_path) == {"a new one", "photo 1.jpg"}
    (tmp_path / "heap" / "1.jpg").unlink()
    assert undo(sorter.into).left == ()
    assert everything(tmp_path) == {"heap/1.jpg": "photo 1.jpg"}


def test_equal_names_of_different_photos_get_numbers(sorter, tmp_path):
    for folder in ("a", "b", "c"):
        (path,) = write_photos(tmp_path / "heap" / folder, ["1.jpg"])
        path.write_text(f"photo {folder}")
    paths = sorted((tmp_path / "heap").rglob("*.jpg"))
    sorter.apply(sorter.plan(paths, answers(9)._replace(probabilities=np.array([[0.9, 0.1]] * 3))))
    assert photos_in(sorter.into / "cat") == {"photo a", "photo b", "photo c"}


def test_one_process_at_a_time_sorts_into_a_folder(tmp_path):
    with sorting_lock(tmp_path), pytest.raises(OutputError, match="Another samovar sort"):  # noqa: SIM117
        with sorting_lock(tmp_path):
            pass


def test_what_lies_in_the_sorted_folders_is_not_sorted_again(tmp_path):
    sorter = HeapSorter(tmp_path, FOLDERS, "move", 0.6)  # into the heap itself
    write_photos(tmp_path, NAMES)
    sort_all(sorter, tmp_path)
    before = everything(tmp_path)
    sort_all(sorter, tmp_path)
    assert everything(tmp_path) == before


def test_a_link_is_not_moved_and_a_name_that_is_no_text_not_sorted(tmp_path):
    (path,) = write_photos(tmp_path / "heap", ["1.jpg"])
    link = tmp_path / "heap" / "2.jpg"
    link.symlink_to("1.jpg")
    odd = tmp_path / "heap" / "\udcff.jpg"
    odd.write_text("odd")
    sorter = HeapSorter(tmp_path / "sorted", FOLDERS, "move", 0.6)
    new = sorter.new_photos([path, path, link, odd], FilingManifest())
    assert new.paths == [path]
    assert len(new.refused) == 2


FEW = NAMES[:3]


def test_a_process_killed_at_any_call_is_finished_by_the_next_one(sorter, tmp_path):
    """At every call that changes the disk, in sorting and in undoing."""
    for step in range(200):
        place = tmp_path / f"at {step}"
        write_photos(place / "heap", FEW)
        (place / "sorted").mkdir()
        mine = HeapSorter(place / "sorted", FOLDERS, sorter.by, 0.6)

        def work(mine=mine, place=place) -> None:
            sort_all(mine, place / "heap")

        killed = killed_at(step, work)
        assert photos_in(place) == {f"photo {name}" for name in FEW}
        sort_all(mine, place / "heap")
        found = {name for name in everything(place) if not name.endswith("sort.json")}
        if step == 0:
            expected = found
        assert found == expected, "as if it had never been killed"
        before_undo = everything(place / "heap")
        killed_undo = killed_at(step, lambda place=place: undo(place / "sorted"))
        assert photos_in(place) == {f"photo {name}" for name in FEW}
        if (place / "sorted" / "samovar-sort.json").exists():
            assert undo(place / "sorted").left == ()
        assert everything(place) == {f"heap/{name}": f"photo {name}" for name in FEW}
        assert before_undo.keys() <= set(FEW)
        if not killed and not killed_undo:
            break
    else:
        pytest.fail("it never came to an end")
    assert step > len(FEW)


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["sort", "undo", "add", "kill sort", "kill undo"]), st.integers(0, 30)
        ),
        max_size=8,
    ),
    st.sampled_from(WAYS),
)
def test_whatever_is_done_in_whatever_order_every_photo_is_there(tmp_path_factory, steps, by):
    place = tmp_path_factory.mktemp("place")
    sorter = HeapSorter(place / "sorted", FOLDERS, by, 0.6)
    sorter.into.mkdir()
    written = set()
    write_photos(place / "heap", ["0.jpg"])
    written.add("photo 0.jpg")
    for action, number in steps:
        if action == "add":
            # The same name again, with another content, is another photo.
            (place / "heap" / f"{number % 3}.jpg").write_text(f"photo {len(written)} added")
        elif action == "sort":
            sort_all(sorter, place / "heap")
        elif action == "kill sort":
            killed_at(number, lambda: sort_all(sorter, place / "heap"))
        elif (sorter.into / "samovar-sort.json").exists():
            if action == "undo":
                undo(sorter.into)
            else:
                killed_at(number, lambda: undo(sorter.into))
        if action == "add":
            written = photos_in(place)
        assert photos_in(place) == written


@pytest.mark.parametrize("by", WAYS)
def test_a_damaged_manifest_loses_no_photo_and_writes_nowhere_else(by, tmp_path, monkeypatch):
    for seed in range(60):
        place = tmp_path / str(seed)
        write_photos(place / "heap", FEW)
        sorter = HeapSorter(place / "sorted", FOLDERS, by, 0.6)
        sorter.into.mkdir()
        monkeypatch.chdir(place)
        sort_all(sorter, place / "heap")
        manifest = sorter.into / NAME
        manifest.write_bytes(mutate(manifest.read_bytes(), seed))
        for work in (lambda: finish(sorter.into), lambda: undo(sorter.into)):  # noqa: B023
            with contextlib.suppress(SamovarError):
                work()
            assert photos_in(place) == {f"photo {name}" for name in FEW}
        assert {path.name for path in place.iterdir()} <= {"heap", "sorted"}
