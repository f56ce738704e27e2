"""Images of a request are told apart by their content, whatever they are called."""

import io

import pytest
from starlette.datastructures import UploadFile

from samovar.core.progress import silent
from samovar.service.examples import read_uploads, without_copies
from samovar.service.models import Models
from samovar.service.problems import Problem
from samovar.service.settings import Limits
from samovar.service.uploads import uploaded_images


@pytest.fixture(scope="module")
def saved():
    return Models("glyphs").ready(None)


def uploads_of(contents, labels):
    files = [UploadFile(io.BytesIO(content), filename="same.jpg") for content in contents]
    return uploaded_images(files, labels, Limits())


def test_files_of_the_same_name_keep_their_own_checksums(saved, photos):
    contents = [path.read_bytes() for path in photos["bars"][:3]]
    images = read_uploads(uploads_of(contents, ["a"]), saved, "glyphs", silent)
    assert len(set(images.digests)) == 3
    assert images.names().names == ("same.jpg",) * 3


def test_images_that_cannot_be_read_are_skipped_in_place(saved, photos):
    good = photos["bars"][0].read_bytes()
    images = read_uploads(uploads_of([b"x", good], ["a", "b"]), saved, "glyphs", silent)
    assert images.positions == [1]
    assert images.names().labels == ("b",)
    assert len(images.skipped) == 1


def test_nothing_that_can_be_read_is_a_problem_with_reasons(saved):
    with pytest.raises(Problem, match="No image can be read") as refused:
        read_uploads(uploads_of([b"x", b"y"], ["a"]), saved, "glyphs", silent)
    assert refused.value.status == 422
    assert len(refused.value.skipped) == 2


def test_copies_are_left_out(saved, photos):
    good = photos["bars"][0].read_bytes()
    images = read_uploads(uploads_of([good, good], ["a"]), saved, "glyphs", silent)
    kept, notes = without_copies(images, None)
    assert len(kept.inputs) == 1
    assert "1 copy was left out" in notes[0]
