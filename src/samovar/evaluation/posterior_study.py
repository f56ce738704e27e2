"""The paper's study of beta (appendix C): sampled classifiers of the prior and the posterior.

The paper leaves open whether single classifiers or their average are measured, so both are.
"""

from typing import Any

import torch
from torch import Tensor

from samovar.evaluation.metrics import Estimate
from samovar.evaluation.task_runner import InferredTasks, TaskRunner
from samovar.models.class_means import ClassMeans
from samovar.models.inference import WeightDistribution
from samovar.prediction.predictive import predict
from samovar.settings.tasks import Protocol

SINGLES = 10
"""Single classifiers whose accuracies are averaged, to lower the noise of the estimate."""
SAMPLES = 100
"""Classifiers whose probabilities are averaged."""


@torch.no_grad()
def prior_and_posterior(runner: TaskRunner, protocol: Protocol) -> dict[str, Any] | None:
    """Measure one sampled classifier, and the average of 100, from prior and posterior.

    The posterior has seen the labels of the very queries that it classifies, so it is not a
    predictor, but it shows how far the two are apart. None for deterministic models and with TEN.
    """
    model = runner.model
    if model.classifier.deterministic or model.task_embedding is not None:
        return None
    accuracies: dict[str, list[Tensor]] = {}
    for tasks in runner.infer_tasks(protocol):
        # Without TEN the classified features are also those that enter g.
        query = ClassMeans.of(tasks.query, tasks.labels, protocol.way)
        posterior = model.posterior(tasks.support, query)
        for name, distribution in (("prior", tasks.prior), ("posterior", posterior)):
            single, average = _accuracies(runner, tasks, distribution, protocol.seed)
            accuracies.setdefault(f"{name} single", []).append(single)
            accuracies.setdefault(f"{name} average", []).append(average)
    results: dict[str, Any] = {}
    for name, batches in accuracies.items():
        every_task = runner.processes.gathered(torch.cat(batches), protocol.episodes)
        results[name] = Estimate.of(every_task.cpu().double().numpy()).to_json()
    results["tasks"] = protocol.episodes
    return results


def _accuracies(
    runner: TaskRunner, tasks: InferredTasks, distribution: WeightDistribution, seed: int
) -> tuple[Tensor, Tensor]:
    """Return the accuracy (T,) of single classifiers, a mean over ten, and of an average of 100."""
    classifier = runner.model.classifier

    def accuracy(samples: int, noise_seed: int) -> Tensor:
        noise = tasks.noise(noise_seed)
        prediction = predict(classifier, distribution, tasks.query, samples, noise)
        return (prediction.probabilities.argmax(-1) == tasks.labels).float().mean(1)

    singles = torch.stack([accuracy(1, seed + repeat) for repeat in range(SINGLES)])
    return singles.mean(0), accuracy(SAMPLES, seed)
