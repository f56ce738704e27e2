"""Copies are found by content, within a class, across classes and in an earlier task."""

from samovar.classifier.copies import Contradiction, Copies, copy_notes, find_copies, with_checksum
from samovar.classifier.support_names import SupportNames
from samovar.data.images.image_file import ImageFile


def names(*images: tuple[str, str, str]) -> SupportNames:
    return SupportNames(*(tuple(column) for column in zip(*images, strict=True)))


def test_the_checksum_is_noted_when_the_file_is_read():
    digests: dict[str, str] = {}
    files = [ImageFile(name, lambda: b"same") for name in ("a", "b")]
    noted = [with_checksum(file, digests) for file in files]
    assert digests == {}
    assert [file.read() for file in noted] == [b"same", b"same"]
    assert digests["a"] == digests["b"]
    assert with_checksum(ImageFile("c", lambda: b"other"), digests).read() == b"other"
    assert digests["c"] != digests["a"]


def test_copies_within_a_class_are_used_once_and_others_contradict():
    images = names(("1", "cat", "x"), ("2", "cat", "x"), ("3", "dog", "x"), ("3", "dog", "x"))
    copies = find_copies(images)
    assert copies.kept == (0, 2)
    assert copies.repeated == (("2", "1"), ("3", "3"))
    assert copies.contradictions == (Contradiction("1", "3"),)
    assert copies.known == 0


def test_images_that_a_task_has_already_are_counted():
    earlier = names(("old", "cat", "x"), ("older", "dog", "y"))
    images = names(("1", "cat", "x"), ("2", "dog", "x"), ("3", "cat", "z"))
    copies = find_copies(images, earlier)
    assert copies.kept == (1, 2)
    assert copies.known == 1
    assert copies.contradictions == (Contradiction("old", "2"),)


def test_nothing_is_said_where_there_is_nothing():
    assert copy_notes(Copies((0, 1), (), 0, ())) == []


def test_copies_are_named_up_to_three():
    repeated = tuple((f"{number}.jpg", "0.jpg") for number in range(1, 6))
    known, copies, contradiction = copy_notes(
        Copies((0,), repeated, 1, (Contradiction("a/0.jpg", "b/9.jpg"),))
    )
    assert known == "1 image was left out: the task has the same already."
    assert copies.startswith("5 copies were left out: 1.jpg (as 0.jpg), ")
    assert copies.endswith("and 2 more.")
    assert "a/0.jpg and b/9.jpg" in contradiction
