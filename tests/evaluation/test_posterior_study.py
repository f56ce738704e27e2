"""Prior and posterior are told apart under both norms."""

import pytest
import torch

from samovar.data.normalization import Normalization
from samovar.evaluation.accuracy import measure_accuracy
from samovar.evaluation.posterior_study import SAMPLES, prior_and_posterior
from samovar.evaluation.task_runner import TaskRunner
from samovar.models.class_means import ClassMeans
from samovar.models.few_shot_model import FewShotModel
from samovar.prediction.predictive import predict
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
    correct = []
    for tasks in evaluator.infer_tasks(protocol):
        query = ClassMeans.of(tasks.query, tasks.labels, protocol.way)
        with torch.no_grad():
            posterior = model.posterior(tasks.support, query)
        prediction = predict(model.classifier, posterior, tasks.query, SAMPLES, tasks.noise(0))
        correct.append(prediction.probabilities.argmax(-1) == tasks.labels)
    expected = torch.cat(correct).double().mean().item()
    assert found["posterior average"]["mean"] == pytest.approx(expected)
    assert found["posterior average"]["mean"] != found["prior average"]["mean"]
    for name in ("prior", "posterior"):
        single = found[f"{name} single"]["mean"]
        assert single < found[f"{name} average"]["mean"] + 0.05, "averaging does not hurt"


@pytest.mark.parametrize(
    "changes",
    [
        {"method": "prototypes", "classifier": "squared"},
        {"backbone": "resnet12", "classifier": "cosine", "task_embedding": True},
    ],
    ids=["prototypes", "TEN"],
)
def test_models_without_a_posterior_over_plain_features_are_left_out(dataset, changes):
    model = FewShotModel(ModelSettings(size=12, width=2, **changes))
    runner = TaskRunner(model, dataset, Normalization.standard(dataset.store), CPU)
    assert prior_and_posterior(runner, Protocol(3, 1, 4, episodes=2)) is None
