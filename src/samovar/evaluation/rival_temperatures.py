"""Temperatures of the rivals, fitted on tasks of the validation classes as the model's are."""

from typing import Any

import torch
from torch import Tensor

from samovar.evaluation.fitted_rivals import FittedRivals
from samovar.evaluation.predictors import Predictor
from samovar.evaluation.rivals import LOGITS
from samovar.evaluation.runner import Runner
from samovar.prediction.temperature import fit_temperature
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
    # With several processes each has seen a share of the tasks; all fit to the whole.
    truth = runner.processes.gathered(torch.cat(labels), protocol.episodes).flatten()
    temperatures = {}
    for rival, batches in logits.items():
        gathered = runner.processes.gathered(torch.cat(batches), protocol.episodes)
        temperatures[rival] = fit_temperature(gathered.flatten(0, 1), truth)
    note = f"fitted on {protocol.episodes} tasks of {runner.dataset.description}"
    return FittedRivals(temperatures, note)
