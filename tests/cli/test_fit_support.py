"""A start has all that a task is made from, and images are read for it."""

import pytest
import torch
from helpers_photos import draw_photos, small_regression

from samovar.classifier.loading import save_fitted
from samovar.cli.fit_choices import Choices
from samovar.cli.fit_support import grown_start, new_start, read_support
from samovar.encoders.image_list import labelled_images
from samovar.errors import DataError

CPU = torch.device("cpu")


@pytest.fixture
def start(tmp_path):
    model = small_regression().save_pretrained(tmp_path / "model")
    return new_start(Choices(str(model), None, None, None, 16, None), "auto", CPU)


def test_a_task_that_grows_has_the_names_of_all_images(start, tmp_path):
    draw_photos(tmp_path / "photos", {"disc": 2, "bars": 1}, side=40)
    support = read_support(labelled_images(tmp_path / "photos"), start, cache=False)
    assert support.names.names == ("bars/0.jpg", "disc/0.jpg", "disc/1.jpg")
    assert (start.parameters.samples, start.parameters.reject) == (16, 0.05)
    path = tmp_path / "t.safetensors"
    names = start.names_with(support)
    save_fitted(path, start.fitted_to(support, CPU), start.place, start.parameters, None, names)
    draw_photos(tmp_path / "more", {"checks": 1}, side=40)
    grown = grown_start(path, None, CPU)
    more = read_support(labelled_images(tmp_path / "more"), grown, cache=False)
    assert grown.fitted_to(more, CPU).task.classes == ("bars", "checks", "disc")
    assert grown.names_with(more).names[-1] == "checks/0.jpg"


def test_a_task_without_names_stays_without(start, tmp_path):
    draw_photos(tmp_path / "photos", {"disc": 2}, side=40)
    support = read_support(labelled_images(tmp_path / "photos"), start, cache=False)
    path = tmp_path / "t.safetensors"
    save_fitted(path, start.fitted_to(support, CPU), start.place, start.parameters, None)
    grown = grown_start(path, None, CPU)
    assert grown.names_with(support) is None


def test_a_class_without_readable_images_is_an_error(start, tmp_path):
    draw_photos(tmp_path / "photos", {"disc": 1, "bars": 1}, side=40)
    (tmp_path / "photos" / "bars" / "0.jpg").write_bytes(b"broken")
    with pytest.raises(DataError, match="No image of the class 'bars' can be read"):
        read_support(labelled_images(tmp_path / "photos"), start, cache=False)
