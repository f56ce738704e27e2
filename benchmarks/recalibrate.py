"""Fit the calibration of a network anew, and the quantiles for sets that rest on it.

    python benchmarks/recalibrate.py FOLDER [FOLDER ...]

`samovar train` does it when training ends; this is for models of before. FOLDER is a model folder
or a run. Tasks are drawn from the validation classes of the data that the network was trained on,
which must be prepared. config.json and the model's card are written anew; the weights stay.
"""

import copy
import dataclasses
from pathlib import Path

import torch
import tyro

from samovar.artifacts.locate import locate_model
from samovar.artifacts.saved_model import load_network
from samovar.evaluation.calibration_fit import fit_calibration
from samovar.evaluation.evaluator import training_dataset
from samovar.evaluation.task_runner import TaskRunner
from samovar.evaluation.transferred_quantiles import measure_quantiles
from samovar.models.backbones.layers import set_norm


def recalibrate(folder: Path, seed: int) -> None:
    """Fit, measure and write one model."""
    saved = load_network(folder)
    model = copy.deepcopy(saved.model)
    set_norm(model, "running")  # as single images are answered
    dataset = training_dataset(saved, "val")
    runner = TaskRunner(model, dataset, saved.normalisation, torch.device("cpu"))
    runner.calibration = fit_calibration(runner, seed)
    quantiles = measure_quantiles(runner, seed)
    changed = dataclasses.replace(saved, calibration=runner.calibration, set_quantiles=quantiles)
    changed.save_pretrained(folder)
    print(folder, runner.calibration)


def main(folders: tyro.conf.Positional[tuple[Path, ...]], seed: int = 0) -> None:
    """Calibrate models anew, one after the other."""
    for folder in folders:
        recalibrate(locate_model(folder), seed)


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
