"""Held-out images are of the task's classes, and none that it was fitted to."""

import pytest
import torch
from helpers_photos import small_regression

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_regression import fit_regression
from samovar.classifier.held_out import HeldOut, calibrated
from samovar.classifier.support_names import SupportNames
from samovar.classifier.user_inputs import UserInputs
from samovar.data.images.image_file import ImageFile
from samovar.encoders.image_sources import ImageList, ListedImage
from samovar.errors import DataError


def listed(tmp_path, contents: dict[str, bytes]) -> ImageList:
    images = []
    for name, content in contents.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        images.append(ListedImage(name, name.split("/")[0], ImageFile.at(path), None))
    return ImageList(images)


def test_copies_of_support_images_are_left_out(tmp_path):
    images = listed(tmp_path, {"1/a": b"new", "2/b": b"seen", "2/c": b"other"})
    seen = HeldOut.of(images, None, (1, 2))
    for file in seen.files:
        file.read()
    digest = seen.digests[seen.files[1].name]
    support = SupportNames(("b",), (2,), (digest,))
    held_out = HeldOut.of(images, support, (1, 2))
    for file in held_out.files:
        file.read()
    inputs = [torch.zeros(3), torch.ones(3), torch.full((3,), 2.0)]
    used = held_out.unseen(UserInputs(held_out.files, inputs, [], [0, 1, 2]))
    assert used.copies == 1
    assert used.labels == [1, 2]  # as the task has them, not as text
    assert torch.equal(used.inputs[1], inputs[2])


def test_folders_that_are_no_class_are_refused(tmp_path):
    with pytest.raises(DataError, match="no class 'dog'"):
        HeldOut.of(listed(tmp_path, {"cat/a": b"1", "dog/b": b"2"}), None, ("cat",))


def test_nothing_to_calibrate_with_is_refused():
    saved = small_regression()
    vectors = list(torch.rand(4, saved.encoder.length))
    fitted = fit_regression(saved, vectors, ["a", "a", "b", "b"])
    with pytest.raises(DataError, match="no image to calibrate with"):
        calibrated(fitted, [], [], AnswerParameters())
