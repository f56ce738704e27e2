"""Prior and posterior are told apart under both norms."""

import pytest
import torch

from samovar.data.normalization import Normalization
from samovar.evaluation.accuracy import measure_accuracy
from samovar.evaluation.posterior_study import SAMPLES, prior_and_posterior
from samovar.evaluation.task_runner import TaskRunner
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import Protocol

CPU = torch.device("cpu")


@pytest.mark.parametrize("norm", ["running", "episode"])
def test_prior_and_posterior_are_told_apart_under_both_norms(dataset, norm):
    """The prior's average is the evaluation with as many samples; the posterior has also seen the
    queries' labels.
    """
    torch.manual_seed(0)
    model = FewShotModel(ModelSettings(size=12, width=4, norm=norm))
    evaluator = TaskRunner(model, dataset, Normalization.standard(dataset.store), CPU)
    protocol = Protocol(3, 1, 4, episodes=30, samples=SAMPLES)
    found = prior_and_posterior(evaluator, protocol)
    assert found["prior average"]["mean"] == pytest.approx(
        measure_accuracy(evaluator, protocol).mean
    )
    assert found["posterior average"]["mean"] != found["prior average"]["mean"]
