"""Wrong labels are found by the others, also where there are several of them."""

import numpy as np
import pytest
import torch
from helpers_images import glyph
from helpers_photos import clouds, small_regression, vector_list

import samovar
from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_regression import fit_regression
from samovar.classifier.support_judgement import judge_support
from samovar.errors import ModelError

PARAMETERS = AnswerParameters()


def task(planted: int, classes: int = 4, each: int = 8):
    vectors, labels = clouds(classes=classes, each=each)
    given = labels.copy()
    given[:: len(labels) // planted] = (given[:: len(labels) // planted] + 1) % classes
    fitted = fit_regression(small_regression(), vector_list(vectors), given.tolist())
    return fitted, torch.from_numpy(given != labels)


@pytest.mark.parametrize("planted", [1, 4, 6])
def test_planted_labels_are_found_and_no_others(planted):
    fitted, wrong = task(planted)
    judgement = judge_support(fitted, PARAMETERS)
    assert (judgement.suspected & wrong).sum() >= 0.8 * wrong.sum()
    assert not (judgement.suspected & ~wrong).any()


def test_a_clean_task_has_no_suspects():
    vectors, labels = clouds()
    fitted = fit_regression(small_regression(), vector_list(vectors), labels.tolist())
    assert not judge_support(fitted, PARAMETERS).suspected.any()


def test_the_first_judgement_is_leave_one_out():
    fitted, _ = task(2)
    everyone = torch.ones(len(fitted.task.numbers), dtype=torch.bool)
    answers = fitted.judged_by(everyone, PARAMETERS).argmax(1)
    measured = fitted.leave_one_out(PARAMETERS)
    wrong = [mistake.position for mistake in measured.wrong]
    assert torch.nonzero(answers != fitted.task.numbers).flatten().tolist() == wrong


def test_who_has_no_say_is_judged_as_a_new_image():
    fitted, _ = task(2)
    kept = torch.ones(len(fitted.task.numbers), dtype=torch.bool)
    kept[5] = False
    labels = fitted.task.labels
    rest = [position for position in range(len(labels)) if position != 5]
    smaller = fit_regression(
        fitted.saved, [fitted.task.vectors[p] for p in rest], [labels[p] for p in rest]
    )
    expected = smaller.predict([fitted.task.vectors[5]], PARAMETERS).probabilities[0, 0]
    np.testing.assert_allclose(fitted.judged_by(kept, PARAMETERS)[5], expected, atol=1e-6)


def test_an_image_alone_in_its_class_is_not_judged():
    vectors, labels = clouds(classes=3, each=4)
    named = labels.tolist()
    named[0] = 9
    fitted = fit_regression(small_regression(), vector_list(vectors), named)
    assert not judge_support(fitted, PARAMETERS).suspected[0]


def test_small_models_judge_as_well_unless_their_images_are_gone(tmp_path):
    images = [glyph(seed, variant) for seed in (100, 101, 102) for variant in range(5)]
    labels = ["a"] * 5 + ["b"] * 5 + ["c"] * 5
    labels[2] = "b"
    classifier = samovar.FewShotClassifier("glyphs").fit(images, labels)
    judgement = judge_support(classifier.fitted_, PARAMETERS)
    assert int(judgement.wrong.argmax()) == 2, "the most suspicious one"
    classifier.save(tmp_path / "t.safetensors")
    loaded = samovar.FewShotClassifier.load(tmp_path / "t.safetensors")
    with pytest.raises(ModelError, match="Check the folder"):
        judge_support(loaded.fitted_, PARAMETERS)
