"""The cached route and the plain route give the model's own answers task by task."""

import numpy as np
import pytest
import torch
from helpers import noisy_store

from samovar.data.dataset import Dataset
from samovar.data.episodes import EpisodeSampler
from samovar.data.normalization import Normalization
from samovar.evaluation.task_runner import TaskRunner
from samovar.models.backbones.layers import set_norm
from samovar.models.few_shot_model import FewShotModel
from samovar.prediction.predictive import predict
from samovar.prediction.rejection import COSINE_DISTANCE
from samovar.prediction.sampling_noise import PredictiveNoise
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import EpisodeSettings, Protocol

CPU = torch.device("cpu")


@pytest.mark.parametrize("norm", ["running", "episode"])
@pytest.mark.parametrize("embedding", [False, True])
@pytest.mark.parametrize("method", ["samovar", "prototypes"])
def test_answers_are_those_of_the_model_task_by_task(dataset, norm, embedding, method):
    classifier = "cosine" if method == "samovar" else "euclidean"
    s = ModelSettings(
        method=method,
        backbone="resnet12",
        classifier=classifier,
        size=12,
        width=2,
        norm=norm,
        task_embedding=embedding,
    )
    model = FewShotModel(s).eval()
    if embedding:
        for multiplier in model.task_embedding.multipliers:
            torch.nn.init.constant_(multiplier, 0.5)
    evaluator = TaskRunner(model, dataset, Normalization.standard(dataset.store), CPU)
    episodes = EpisodeSampler(dataset, EpisodeSettings(3, 2, 2), 0).draw(0, 3)
    together = evaluator.predict_sampled(
        evaluator.infer(episodes, range(3)), Protocol(3, 2, 2, samples=16)
    ).probabilities
    for task in range(3):
        support, query = (
            evaluator.source.inputs(i[task : task + 1]) for i in (episodes.support, episodes.query)
        )
        with torch.no_grad():
            labels = torch.tensor(episodes.support_labels[task : task + 1])
            prior, films = model.condition_images(support, labels, 3)[1:3]
            features = model.embed(query, films if method == "prototypes" else None)
            alone = predict(
                model.classifier, prior, features, 16, PredictiveNoise(0, [task])
            ).probabilities
        torch.testing.assert_close(together[task : task + 1], alone, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("method", ["samovar", "prototypes"])
def test_distances_are_of_unconditioned_features_and_none_under_episode_norm(tmp_path, method):
    dataset = Dataset(noisy_store(tmp_path))
    classifier = "cosine" if method == "samovar" else "euclidean"
    settings = ModelSettings(
        backbone="resnet12",
        size=12,
        width=2,
        task_embedding=True,
        method=method,
        classifier=classifier,
    )
    model = FewShotModel(settings).eval()
    for multiplier in model.task_embedding.multipliers:
        torch.nn.init.constant_(multiplier, 0.5)
    evaluator = TaskRunner(model, dataset, Normalization.standard(dataset.store), CPU)
    protocol = Protocol(3, 2, 4, episodes=25, samples=4, split="train")
    outcomes = evaluator.outcomes(protocol)
    episodes = EpisodeSampler(dataset, protocol.tasks, protocol.seed).draw(0, 25)
    with torch.no_grad():
        support, query = (
            model.embed(evaluator.source.inputs(i)) for i in (episodes.support, episodes.query)
        )
    means = support.unflatten(1, (3, 2)).mean(2)
    expected = COSINE_DISTANCE(query, means).numpy()
    for outcome in outcomes.values():
        np.testing.assert_allclose(outcome.distance, expected, atol=1e-5)
    set_norm(model, "episode")
    again = TaskRunner(model, dataset, Normalization.standard(dataset.store), CPU).outcomes(
        protocol
    )
    assert again["predictive"].distance is None


def test_a_model_switched_to_episode_norm_is_not_answered_from_the_cache(dataset):
    model = FewShotModel(ModelSettings(size=12, width=4))
    normalisation = Normalization.standard(dataset.store)
    assert TaskRunner(model, dataset, normalisation, CPU).embeds_split
    set_norm(model, "episode")
    assert not TaskRunner(model, dataset, normalisation, CPU).embeds_split


def test_rivals_see_plain_features_and_energy_is_that_of_the_classifier_at_the_mean(dataset):
    """TADAM classifies conditioned queries, but its rivals know nothing of TEN."""
    settings = ModelSettings(
        method="prototypes",
        backbone="resnet12",
        classifier="euclidean",
        size=12,
        width=2,
        task_embedding=True,
    )
    model = FewShotModel(settings).eval()
    for multiplier in model.task_embedding.multipliers:
        torch.nn.init.constant_(multiplier, 0.5)
    runner = TaskRunner(model, dataset, Normalization.standard(dataset.store), CPU)
    episodes = EpisodeSampler(dataset, EpisodeSettings(3, 2, 2), 0).draw(0, 2)
    features = runner.task_features(episodes)
    with torch.no_grad():
        plain = model.embed(runner.source.inputs(episodes.query))
    torch.testing.assert_close(features.query.float(), plain, rtol=1e-3, atol=1e-6)
    tasks = runner.infer(episodes, range(2))
    assert not torch.allclose(tasks.query, plain, rtol=1e-2, atol=1e-6), "conditioned"
    logits = model.classifier.mean_logits(tasks.query, tasks.prior)
    torch.testing.assert_close(runner.energy(tasks), -logits.exp().sum(-1).log())
