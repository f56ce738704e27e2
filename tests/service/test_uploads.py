"""Names from clients are only shown, and archives are counted by what comes out of them."""

import io
import struct
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import UploadFile

from samovar.errors import DataError
from samovar.service.problems import Problem
from samovar.service.settings import Limits
from samovar.service.uploads import (
    LONGEST_NAME,
    archived_images,
    checked_label,
    shown_name,
    stored,
    uploaded_images,
)


def upload(content: bytes, name: str = "a.jpg") -> UploadFile:
    return UploadFile(io.BytesIO(content), filename=name)


def archive(entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> UploadFile:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, content in entries.items():
            file.writestr(name, content)
    return upload(buffer.getvalue(), "a.zip")


@given(st.text())
def test_any_name_can_be_shown_and_written_as_json(name):
    shown = shown_name(name)
    assert shown.isprintable()
    assert len(shown) <= LONGEST_NAME
    shown.encode()


@given(st.text())
def test_a_class_name_is_printable_or_refused(name):
    try:
        label = checked_label(name)
    except Problem:
        label = None
    shown = name.strip()
    sound = 0 < len(shown) <= 100 and shown.isprintable()
    assert label == (shown if sound else None)


def test_one_label_serves_for_all_files():
    uploads = uploaded_images([upload(b"1"), upload(b"2")], [" tea "], Limits())
    assert [image.label for image in uploads] == ["tea", "tea"]
    assert uploads[1].file.read() == b"2"
    assert uploads[1].file.read() == b"2", "again, for the thumbnail"


def test_a_stored_upload_has_a_name_of_ours_and_is_removed():
    with stored(upload(b"content", "../../evil"), ".zip") as path:
        assert path.read_bytes() == b"content"
        assert path.name.startswith("samovar-")
    assert not path.exists()


def test_an_archive_gives_images_with_the_names_of_their_folders():
    entries = {"mine/cat/1.jpg": b"1", "mine/dog/2.jpg": b"2", "mine/notes.txt": b"3"}
    with archived_images(archive(entries), Limits()) as uploads:
        assert [(image.label, image.file.name) for image in uploads] == [
            ("cat", "mine/cat/1.jpg"),
            ("dog", "mine/dog/2.jpg"),
        ]
        assert uploads[0].file.read() == b"1"


def test_too_many_entries_are_refused():
    entries = {f"cat/{number}.jpg": b"" for number in range(11)}
    for most in (10, 1):  # by their number, and by the size of the directory
        with (
            pytest.raises(Problem, match="more than") as refused,
            archived_images(archive(entries), Limits(entries=most)),
        ):
            pass
        assert refused.value.status == 413


def test_what_comes_out_of_an_archive_is_counted():
    entries = {f"cat/{number}.jpg": b"x" * 1000 for number in range(10)}
    with archived_images(archive(entries), Limits(unpacked=5000)) as uploads:
        for image in uploads[:5]:
            image.file.read()
            image.file.read()  # again, for the thumbnail, which does not count
        with pytest.raises(Problem, match="unpacks to more") as refused:
            uploads[5].file.read()
        assert refused.value.status == 413


def test_an_entry_that_is_too_large_is_left_out_by_name():
    entries = {"cat/large.jpg": b"x" * 1000}
    with (
        archived_images(archive(entries), Limits(file=500)) as uploads,
        pytest.raises(DataError, match=r"^cat/large\.jpg has more than 500 bytes"),
    ):
        uploads[0].file.read()


def test_a_directory_that_lies_about_sizes_gives_no_more_than_it_says():
    file = archive({"cat/a.jpg": b"x" * 100_000})
    content = bytearray(file.file.read())
    entry = content.rindex(b"PK\x01\x02")
    struct.pack_into("<I", content, entry + 24, 10)  # the size in the directory
    with archived_images(upload(bytes(content), "a.zip"), Limits()) as uploads:
        with pytest.raises(DataError, match="is damaged") as refused:
            uploads[0].file.read()
        assert "samovar-" not in str(refused.value)


@pytest.mark.parametrize("name", ["../x/a.jpg", "/etc/a.jpg", "C:/x/a.jpg"])
def test_entries_that_point_outside_are_refused(name):
    with (
        pytest.raises(Problem, match="points outside") as refused,
        archived_images(archive({name: b"1"}), Limits()),
    ):
        pass
    assert refused.value.status == 422
    assert "samovar-" not in refused.value.detail
