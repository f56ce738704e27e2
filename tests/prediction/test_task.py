"""One task by sums of features is the task by its images."""

from dataclasses import replace

import pytest
import torch
from helpers_models import CONV, FEATURES, TADAM, TEN, set_multipliers

from samovar.data.normalization import Normalization, network_input
from samovar.models.class_means import ClassMeans
from samovar.models.few_shot_model import FewShotModel
from samovar.prediction.rejection import COSINE_DISTANCE
from samovar.prediction.task import (
    CHUNK,
    Embedder,
    class_means,
    infer_task,
    predict_queries,
    rejection_scores,
    task_films,
)

CPU = torch.device("cpu")


def embedder(settings) -> Embedder:
    channels = settings.channels if settings.backbone != "identity" else settings.size
    scale = 1.0 if settings.backbone == "identity" else 255.0
    model = FewShotModel(settings).eval()
    return Embedder(model, Normalization((0.5,) * channels, (0.25,) * channels, scale), CPU)


def sums(features, labels, way) -> ClassMeans:
    means = ClassMeans.of(features[None].double(), labels[None], way)
    return class_means(means.totals[0].double(), means.counts[0].long(), CPU)


def test_chunks_of_images_are_embedded_as_they_would_be_alone():
    embed = embedder(CONV)
    images = list(torch.randint(256, (CHUNK + 3, 16, 16, 1), dtype=torch.uint8))
    features = embed(images)
    assert features.shape == (CHUNK + 3, embed.model.feature_dim)
    for number in (0, CHUNK, CHUNK + 2):
        torch.testing.assert_close(
            features[number], embed([images[number]])[0], atol=1e-5, rtol=1e-4
        )
    assert embed([]).shape == (0, embed.model.feature_dim)


def test_sums_do_not_show_the_order_in_which_images_were_added():
    features = torch.randn(50, 4)
    totals = features.double().sum(0, keepdim=True)
    backwards = features.flip(0).double().cumsum(0)[-1:]
    counts = torch.tensor([50])
    means, others = class_means(totals, counts, CPU), class_means(backwards, counts, CPU)
    assert torch.equal(means.means, others.means)


@pytest.mark.parametrize("settings", [TEN, TADAM], ids=["TEN", "TADAM"])
def test_a_task_is_conditioned_as_the_model_does_it(settings):
    embed = embedder(settings)
    model = embed.model
    set_multipliers(model, 0.5)
    images = torch.randint(256, (6, 16, 16, 3), dtype=torch.uint8)
    labels = torch.tensor([0, 0, 1, 1, 2, 2])
    plain = sums(embed(list(images)), labels, 3)
    films = task_films(model, plain)
    conditioned = sums(embed(list(images), films), labels, 3)
    task = infer_task(model, plain, conditioned)
    inputs = network_input(images, embed.normalisation)[None]
    with torch.no_grad():
        prior = model.task_prior(inputs, labels[None], 3)
    torch.testing.assert_close(task.prior.weights.mean, prior.weights.mean, atol=1e-4, rtol=1e-3)
    assert (task.query_films is not None) == (settings is TADAM), "SAMOVAR's queries are plain"


def test_without_task_embedding_nothing_is_conditioned():
    embed = embedder(FEATURES)
    plain = sums(torch.randn(4, 6), torch.tensor([0, 0, 1, 1]), 2)
    assert task_films(embed.model, plain) is None
    assert infer_task(embed.model, plain, None).query_films is None


def test_predictions_in_chunks_are_those_of_each_query_and_distances_too():
    embed = embedder(FEATURES)
    means = sums(torch.randn(4, 6), torch.tensor([0, 0, 1, 1]), 2)
    prior = infer_task(embed.model, means, None).prior
    queries = torch.randn(CHUNK + 2, 6)
    together = predict_queries(embed.model, prior, queries, 8, 0)
    assert together.probabilities.shape == (1, CHUNK + 2, 2)
    last = predict_queries(embed.model, prior, queries[-1:], 8, 0)
    torch.testing.assert_close(together.probabilities[:, -1:], last.probabilities)
    torch.testing.assert_close(together.mutual_information[:, -1:], last.mutual_information)
    distances = rejection_scores(COSINE_DISTANCE, queries, means)
    torch.testing.assert_close(distances, COSINE_DISTANCE(queries, means.means[0]))


def test_a_network_that_sees_counts_sees_those_of_the_fitted_task():
    model = embedder(replace(FEATURES, count_input=True)).model
    features = torch.randn(5, 6)
    labels = torch.tensor([0, 0, 0, 1, 1])
    prior = infer_task(model, sums(features, labels, 2), None).prior
    with torch.no_grad():
        direct = model.task_prior(features[None], labels[None], 2)
    torch.testing.assert_close(prior.weights.stddev, direct.weights.stddev)
