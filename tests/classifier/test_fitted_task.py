"""A fitted task holds what the model's own answers need."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers import image_model
from hypothesis import given
from hypothesis import strategies as st

from samovar import FewShotClassifier
from samovar.classifier.fitted_task import FittedTask
from samovar.errors import ModelError
from samovar.prediction.rejection import COSINE_DISTANCE


@pytest.mark.parametrize("method", ["samovar", "prototypes"])
def test_with_ten_the_answers_are_the_models_own_and_loaded_tasks_cannot_grow(tmp_path, method):
    classifier = "cosine" if method == "samovar" else "euclidean"
    model = image_model(
        backbone="resnet12", width=2, task_embedding=True, method=method, classifier=classifier
    )
    for multiplier in model.model.task_embedding.multipliers:
        torch.nn.init.constant_(multiplier, 0.5)
    images = np.random.default_rng(0).integers(256, size=(8, 12, 12, 3), dtype=np.uint8)
    labels = np.array([0, 0, 1, 1, 2])
    whole = FewShotClassifier(model, samples=16).fit(images[:5], labels)
    parts = (
        FewShotClassifier(model, samples=16)
        .fit(images[:3], labels[:3])
        .partial_fit(images[3:5], labels[3:])
    )
    np.testing.assert_allclose(parts.predict_proba(images), whole.predict_proba(images), atol=1e-4)
    with torch.no_grad():
        x = model.normalisation(torch.from_numpy(images)).permute(0, 3, 1, 2)
        conditioned = model.model.condition_images(x[None, :5], torch.from_numpy(labels)[None], 3)
        features = model.model.embed(x[None], conditioned.films if method == "prototypes" else None)
        mean = model.model.classifier.mean_logits(features, conditioned.prior).softmax(-1)[0]
        plain = model.model.embed(x[None])[0]
        means = torch.stack([plain[:5][labels == label].mean(0) for label in range(3)])
        distances = COSINE_DISTANCE(plain, means)
    found = whole.answer(images)
    np.testing.assert_allclose(found.distance, distances.numpy(), atol=1e-5)
    np.testing.assert_allclose(found.probabilities, whole.predict_proba(images), atol=1e-6)
    if method == "prototypes":
        np.testing.assert_allclose(whole.predict_proba(images), mean.numpy(), atol=1e-4)
    whole.save(tmp_path / "t.safetensors")
    loaded = FewShotClassifier.load(tmp_path / "t.safetensors", model)
    np.testing.assert_allclose(loaded.predict_proba(images), whole.predict_proba(images), atol=1e-5)
    with pytest.raises(ModelError, match="no longer has them"):
        loaded.partial_fit(images, np.zeros(8, int))


def random_task(seed: int, classes: list[str], images: int = 6) -> FittedTask:
    noise = np.random.default_rng(seed)
    labels = [*classes, *noise.choice(classes, images).tolist()]
    return FittedTask.of(torch.from_numpy(noise.normal(size=(len(labels), 3))), labels)


@given(st.integers(0, 1000))
def test_a_union_has_the_classes_and_sums_of_both_whatever_the_order(seed):
    first, second = random_task(seed, ["a", "c"]), random_task(seed + 1, ["b", "c"])
    union = first | second
    assert union.classes == (second | first).classes == ("a", "b", "c")
    assert torch.allclose(union.totals, (second | first).totals)
    assert union.counts.sum() == first.counts.sum() + second.counts.sum()
    assert torch.allclose(union.totals.sum(0), first.totals.sum(0) + second.totals.sum(0))


def test_conditioned_sums_are_never_added_nor_lost_in_silence():
    plain = random_task(0, ["a", "b"])
    conditioned = replace(plain, conditioned=plain.totals)
    for first, second in ((plain, conditioned), (conditioned, plain)):
        with pytest.raises(ValueError, match="condition the union"):
            first | second
    union = conditioned.without_conditioning() | plain
    assert union.conditioned is None
    assert torch.allclose(union.totals, 2 * plain.totals)
