"""A task file from a stranger cannot lead the server anywhere."""

from dataclasses import replace

import pytest
from helpers_photos import clouds, vector_list

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_regression import fit_regression
from samovar.classifier.support_names import SupportNames
from samovar.classifier.task_file import TaskInfo, write_task
from samovar.encoders.encoder_facts import EncoderFacts
from samovar.service.adopted_task import adopt_task
from samovar.service.models import Models
from samovar.service.problems import Problem
from samovar.service.settings import Limits

MODELS = Models("photos")
LIMITS = Limits()


@pytest.fixture(scope="module")
def fitted():
    saved = MODELS.ready(None)
    vectors, numbers = clouds(classes=2, each=3, length=saved.encoder.length)
    labels = [("cat", "dog")[number] for number in numbers]
    return fit_regression(saved, vector_list(vectors), labels)


@pytest.fixture
def info(fitted):
    names = SupportNames(("a",) * 6, tuple(fitted.task.labels), ("0123456789abcdef",) * 6)
    return TaskInfo("photos", fitted.saved.identity, AnswerParameters(), support=names)


def adopted(tmp_path, fitted, info, limits=LIMITS):
    path = tmp_path / "t.safetensors"
    write_task(path, fitted.task, info)
    return adopt_task(path, MODELS, limits)


def test_a_sound_file_is_taken(tmp_path, fitted, info):
    taken, kept = adopted(tmp_path, fitted, info)
    assert taken.task.classes == ("cat", "dog")
    assert kept.support == info.support


def test_files_that_name_other_places_are_refused(tmp_path, fitted, info):
    facts = EncoderFacts("/etc/passwd.onnx", "0" * 64, 1280)
    digests = ("../../../../etc/x",) * 6
    for bad, word in (
        (replace(info, model="/etc"), "a model that is not here"),
        (replace(info, model="owner/model"), "a model that is not here"),
        (replace(info, encoder=facts), "encoder of its own"),
        (replace(info, support=replace(info.support, digests=digests)), "task file"),
        (replace(info, support=replace(info.support, digests=("../../x",) * 6)), "checksums"),
        (replace(info, identity="0" * 64), "another model"),
        (replace(info, parameters=AnswerParameters(samples=10_000)), "sampled classifiers"),
    ):
        with pytest.raises(Problem, match=word) as refused:
            adopted(tmp_path, fitted, bad)
        assert refused.value.status == 422
        assert str(tmp_path) not in refused.value.detail


def test_too_many_examples_are_refused(tmp_path, fitted, info):
    with pytest.raises(Problem, match="more than 5 examples") as refused:
        adopted(tmp_path, fitted, info, Limits(examples=5))
    assert refused.value.status == 413


@pytest.mark.parametrize("label", ["\x1b[31m", "x" * 101, "none of these", " "])
def test_class_names_that_cannot_be_shown_are_refused(tmp_path, fitted, info, label):
    task = replace(fitted.task, classes=("cat", label))
    with pytest.raises(Problem) as refused:
        adopted(tmp_path, replace(fitted, task=task), replace(info, support=None))
    assert refused.value.status == 422


def test_names_of_files_are_made_fit_to_show(tmp_path, fitted, info):
    names = replace(info.support, names=("\x1b[31m" + "x" * 1000,) * 6)
    _, kept = adopted(tmp_path, fitted, replace(info, support=names))
    assert all(len(name) == 200 for name in kept.support.names)


def test_the_label_of_rejected_images_is_ours(tmp_path, fitted, info):
    odd = replace(info, parameters=AnswerParameters(reject=0.05, reject_label="<b>"))
    _, kept = adopted(tmp_path, fitted, odd)
    assert kept.parameters.reject_label == "none of these"
