"""A left-out image is answered as a new one of a task with one image less of each class."""

import pytest
import torch
from helpers_models import FEATURES
from hypothesis import given
from hypothesis import strategies as st

from samovar.models.class_means import ClassMeans
from samovar.models.few_shot_model import FewShotModel
from samovar.prediction import smaller_tasks
from samovar.prediction.smaller_tasks import SmallerTasks, sampled_logits
from samovar.settings.model import ModelSettings

SETTINGS = [
    FEATURES,
    ModelSettings(backbone="identity", size=6, classifier="cosine"),
    ModelSettings(backbone="identity", size=6, method="prototypes", classifier="squared"),
    ModelSettings(backbone="identity", size=6, count_input=True),
]


def smaller_of(labels: torch.Tensor, **choices: int) -> tuple[torch.Tensor, SmallerTasks | None]:
    way = int(labels.max()) + 1
    features = torch.randn(len(labels), 6, generator=torch.Generator().manual_seed(0))
    means = ClassMeans.of(features[None], labels[None], way)
    counts = means.counts[0].long()
    return features, SmallerTasks.of(means.totals[0], counts, features, labels, **choices)


@pytest.mark.parametrize("settings", SETTINGS)
def test_logits_are_those_of_the_smaller_task(settings, monkeypatch):
    """Images come in any order; the class with a single one keeps it."""
    monkeypatch.setattr(smaller_tasks, "LARGEST_CHUNK", 100)  # several chunks
    labels = torch.tensor([1, 0, 0, 2, 1, 0])
    model = FewShotModel(settings).eval()
    features, smaller = smaller_of(labels)
    assert smaller is not None
    assert smaller.shots == pytest.approx((2 + 1 + 1) / 3)
    logits, answered = smaller.logits(model, samples=5, seed=1, factor=0.5)
    # What each smaller task leaves out of the classes 0 and 1; the last image had its turn before.
    rounds = [[1, 0], [2, 4], [5, 0]]
    assert answered.tolist() == [0, 1, 0, 1, 0]
    expected = []
    with torch.no_grad():
        for left_out in rounds:
            stays = [number for number in range(6) if number not in left_out]
            prior = model.task_prior(features[None, stays], labels[None, stays], 3)
            widened = prior.widened(torch.tensor([0.5]))
            expected.append(sampled_logits(model, widened, features[None, left_out], 5, seed=1)[0])
    torch.testing.assert_close(logits, torch.cat(expected, 1)[:, :5], atol=1e-4, rtol=1e-4)


@given(st.lists(st.integers(1, 6), min_size=2, max_size=6), st.randoms())
def test_every_image_of_a_class_with_several_is_asked_for_once(counts, source):
    numbers = [label for label, count in enumerate(counts) for _ in range(count)]
    source.shuffle(numbers)
    features, smaller = smaller_of(torch.tensor(numbers))
    if max(counts) == 1:
        assert smaller is None
        return
    asked = smaller.features[smaller.asked]
    expected = features[torch.tensor([counts[number] > 1 for number in numbers])]
    assert sorted(map(tuple, asked.tolist())) == sorted(map(tuple, expected.tolist()))
    # The sums are those of the images that stay: the others are missing, and of single ones none.
    whole = ClassMeans.of(features[None], torch.tensor(numbers)[None], len(counts)).totals
    taken = (whole - smaller.totals).float()
    single = torch.tensor(counts) == 1
    torch.testing.assert_close(taken[:, single], torch.zeros_like(taken[:, single]))
    torch.testing.assert_close(taken[:, smaller.labels], smaller.features, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("classes", "shots", "most"), [(40, 10, 200), (300, 3, 200), (4, 90, 50)])
def test_of_many_images_some_are_asked_for_and_all_classes_if_possible(classes, shots, most):
    labels = torch.arange(classes).repeat_interleave(shots)
    _, smaller = smaller_of(labels, most=most)
    assert smaller is not None
    assert int(smaller.asked.sum()) <= most
    assert int(smaller.asked.sum()) > most / 2
    assert len(set(smaller.labels.tolist())) == min(classes, most)
