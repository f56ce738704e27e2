"""A left-out image is classified by a classifier that was fitted without it."""

import pytest
import torch
from helpers_models import FEATURES

from samovar.models.class_means import ClassMeans
from samovar.models.few_shot_model import FewShotModel
from samovar.prediction import left_out_support
from samovar.prediction.left_out_support import LeftOutSupport
from samovar.prediction.predictive import predict
from samovar.prediction.sampling_noise import PredictiveNoise
from samovar.settings.model import ModelSettings

SETTINGS = [
    FEATURES,
    ModelSettings(backbone="identity", size=6, classifier="cosine"),
    ModelSettings(backbone="identity", size=6, method="prototypes", classifier="squared"),
    ModelSettings(backbone="identity", size=6, count_input=True),
]
LABELS = torch.tensor([0, 0, 0, 1, 1, 2])


def left_out_of(model: FewShotModel) -> tuple[torch.Tensor, LeftOutSupport]:
    features = torch.randn(6, 6, generator=torch.Generator().manual_seed(0))
    means = ClassMeans.of(features[None], LABELS[None], 3)
    left_out = LeftOutSupport.of(means.totals[0], means.counts[0].long(), features, LABELS)
    assert left_out is not None
    return features, left_out


@pytest.mark.parametrize("settings", SETTINGS)
def test_probabilities_are_those_of_a_fit_without_the_image(settings, monkeypatch):
    monkeypatch.setattr(left_out_support, "LARGEST_CHUNK", 100)  # several chunks
    model = FewShotModel(settings).eval()
    features, left_out = left_out_of(model)
    assert left_out.positions == (0, 1, 2, 3, 4), "the only image of its class stays"
    noise = PredictiveNoise(1, [0], quasi=True)
    with torch.no_grad():
        prior = model.task_prior(features[None], LABELS[None], 3)
        probabilities = left_out.probabilities(model, prior, samples=5, seed=1)
        for position in left_out.positions:
            rest = torch.arange(6) != position
            without = model.task_prior(features[None, rest], LABELS[None, rest], 3)
            query = features[None, position : position + 1]
            expected = predict(model.classifier, without, query, 5, noise).probabilities[0, 0]
            torch.testing.assert_close(
                probabilities[position].float(), expected, atol=1e-4, rtol=1e-4
            )


def test_nothing_can_be_left_out_of_one_image_a_class():
    features = torch.randn(3, 4)
    assert LeftOutSupport.of(features, torch.ones(3).long(), features, torch.arange(3)) is None


def test_of_many_images_all_classes_are_left_out():
    labels = torch.arange(40).repeat_interleave(10)
    features = torch.randn(400, 3)
    means = ClassMeans.of(features[None], labels[None], 40)
    left_out = LeftOutSupport.of(means.totals[0], means.counts[0].long(), features, labels)
    assert left_out is not None
    assert len(left_out.positions) == left_out_support.MOST_LEFT_OUT
    assert set(left_out.numbers.tolist()) == set(range(40))
