"""Temperatures of the rivals, fitted on tasks of the validation classes as the model's are."""

from typing import Any

import torch
from torch import Tensor

from samovar.evaluation.fitted_rivals import FittedRivals
from samovar.evaluation.predictors import Predictor
from samovar.evaluation.rivals import LOGITS
from samovar.evaluation.runner import Runner
from samovar.evaluation.temperatures import fit_each, fitted_on
from samovar.settings.tasks import Protocol


@torch.no_grad()
def fit_rivals(runner: Runner[Any], protocol: Protocol) -> FittedRivals:
    """Fit a temperature for each rival on the tasks of a protocol."""
    logits: dict[Predictor, list[Tensor]] = {rival: [] for rival in LOGITS}
    labels = []
    for _, episodes in runner.draw_tasks(protocol):
        features = runner.task_features(episodes)
        for rival, logits_of in LOGITS.items():
            logits[rival].append(logits_of(features))
        labels.append(torch.tensor(episodes.query_labels))
    temperatures = fit_each(logits, labels, runner.processes, protocol.episodes)
    return FittedRivals(temperatures, fitted_on(runner, protocol))
