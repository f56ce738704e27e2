"""The paper's beta study: single sampled classifiers and their average, from the prior and from the posterior."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from samovar.calibration import mean_with_interval
from samovar.config import Protocol
from samovar.models.tasks import Sums
from samovar.predictive import predict
from samovar.predictive_noise import BANK, PredictiveNoise
from samovar.task_evaluator import TaskEvaluator

TASKS, SINGLES, SAMPLES = 500, 10, 100


@torch.no_grad()
def prior_and_posterior(evaluator: TaskEvaluator, protocol: Protocol) -> dict[str, Any] | None:
    """Accuracy of one sampled classifier (mean over ten) and of the average of 100, from prior and posterior.

    The posterior has seen the labels of the very queries that it is asked: it is no predictor, it shows how far the two
    are apart. None for deterministic models, with TEN or under episode norm.
    """
    model, tasks = evaluator.model, replace(protocol, episodes=min(TASKS, protocol.episodes))
    if model.classifier.deterministic or model.task_embedding is not None or not evaluator.embeds_once:
        return None
    sampler, found = evaluator.check(tasks), dict[str, list[np.ndarray]]()
    for first in range(0, tasks.episodes, BANK):
        episodes = sampler.draw(first, min(BANK, tasks.episodes - first))
        labels = torch.tensor(episodes.query_labels, device=evaluator.device)
        prior, query = evaluator.infer(episodes)
        support = Sums.of(
            evaluator.features_of(episodes.support),
            torch.tensor(episodes.support_labels, device=evaluator.device),
            tasks.way,
        )
        posterior = model.posterior(support, Sums.of(query, labels, tasks.way))
        numbers = range(first, first + len(query))
        for name, distribution in (("prior", prior), ("posterior", posterior)):
            noises = [PredictiveNoise(tasks.seed + repeat, numbers) for repeat in range(SINGLES)]
            singles = [predict(model.classifier, distribution, query, 1, noise).probabilities for noise in noises]
            average = predict(model.classifier, distribution, query, SAMPLES, noises[0]).probabilities
            right = [(each.argmax(-1) == labels).double().mean(1).cpu().numpy() for each in (*singles, average)]
            found.setdefault(f"{name} single", []).append(np.mean(right[:-1], axis=0))
            found.setdefault(f"{name} average", []).append(right[-1])
    return {name: mean_with_interval(np.concatenate(each)) for name, each in found.items()} | {"tasks": tasks.episodes}
