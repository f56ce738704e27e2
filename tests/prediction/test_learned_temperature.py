"""Left-out images move the temperature of a task the way they should."""

import torch
from helpers import CALIBRATION

from samovar.models.class_means import ClassMeans
from samovar.models.few_shot_model import FewShotModel
from samovar.prediction.learned_temperature import learned_temperature
from samovar.prediction.smaller_tasks import SmallerTasks
from samovar.prediction.task_temperature import deviations
from samovar.settings.model import ModelSettings


def warmth(labels: torch.Tensor) -> float:
    """Return the posterior mean of u of a task of two clouds of vectors with these labels."""
    model = FewShotModel(
        ModelSettings(backbone="identity", size=4, method="prototypes", classifier="squared")
    ).eval()
    centres = torch.tensor([[1.0, 0, 0, 0], [0, 1.0, 0, 0]]).repeat_interleave(5, 0)
    features = centres + 0.1 * torch.randn(10, 4, generator=torch.Generator().manual_seed(1))
    means = ClassMeans.of(features[None], labels[None], 2)
    smaller = SmallerTasks.of(means.totals[0], means.counts[0].long(), features, labels)
    assert smaller is not None
    weights = learned_temperature(CALIBRATION, smaller, model)
    return float(weights @ deviations(CALIBRATION.spread))


def test_clear_classes_are_colder_than_muddled_ones():
    clear = torch.tensor([0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    muddled = torch.tensor([0, 1, 0, 1, 0, 1, 0, 1, 0, 1])
    assert warmth(clear) < 0 < warmth(muddled)
