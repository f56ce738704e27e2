"""The paper's beta study: single sampled classifiers and their average, from the prior and from the posterior."""

from typing import Any

import torch

from samovar.evaluation.metrics import mean_with_interval
from samovar.evaluation.task_runner import TaskRunner
from samovar.models.class_means import ClassMeans
from samovar.prediction.predictive import predict
from samovar.settings.tasks import Protocol

SINGLES, SAMPLES = 10, 100


@torch.no_grad()
def prior_and_posterior(evaluator: TaskRunner, protocol: Protocol) -> dict[str, Any] | None:
    """Accuracy of one sampled classifier (mean over ten) and of the average of 100, from prior and posterior.

    The posterior has seen the labels of the very queries that it is asked: it is no predictor, it shows how far the two
    are apart. None for deterministic models and with TEN.
    """
    model = evaluator.model
    if model.classifier.deterministic or model.task_embedding is not None:
        return None
    found = dict[str, list[torch.Tensor]]()
    for some in evaluator.inferred(protocol):
        support_labels = torch.tensor(some.episodes.support_labels, device=evaluator.device)
        support = ClassMeans.of(
            evaluator.features(some.episodes.support), support_labels, protocol.way
        )
        posterior = model.posterior(support, ClassMeans.of(some.query, some.labels, protocol.way))
        for name, distribution in (("prior", some.prior), ("posterior", posterior)):
            noises = [some.noise(protocol.seed + repeat) for repeat in range(SINGLES)]
            singles = [
                predict(model.classifier, distribution, some.query, 1, noise).probabilities
                for noise in noises
            ]
            average = predict(
                model.classifier, distribution, some.query, SAMPLES, noises[0]
            ).probabilities
            right = [
                (each.argmax(-1) == some.labels).float().mean(1) for each in (*singles, average)
            ]
            found.setdefault(f"{name} single", []).append(torch.stack(right[:-1]).mean(0))
            found.setdefault(f"{name} average", []).append(right[-1])
    accuracies = {
        name: evaluator.gathered(torch.cat(each), protocol.episodes) for name, each in found.items()
    }
    return {
        name: mean_with_interval(each.cpu().double().numpy()) for name, each in accuracies.items()
    } | {"tasks": protocol.episodes}
