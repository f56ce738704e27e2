"""Accuracy over tasks: the cached route and the plain route agree, and the interval is the one stated."""

import json

import numpy as np
import pytest
import torch
from conftest import make_store

import samovar
from samovar.cli import main
from samovar.config import EpisodeSettings, ModelSettings, Protocol, named_protocol
from samovar.data.augmentation import Normalisation
from samovar.data.dataset import Dataset
from samovar.data.episodes import EpisodeSampler
from samovar.evaluation import Accuracy, TaskEvaluator
from samovar.model_folder import SavedModel, save_model
from samovar.models.model import FewShotModel
from samovar.models.norm import set_norm
from samovar.predictive import PredictiveNoise, predict

CPU = torch.device("cpu")


@pytest.fixture
def dataset(tmp_path) -> Dataset:
    return Dataset(make_store(tmp_path, [9] * 8, (12, 12, 3)))


@pytest.mark.parametrize("norm", ["running", "episode"])
@pytest.mark.parametrize("embedding", [False, True])
@pytest.mark.parametrize("method", ["samovar", "prototypes"])
def test_answers_are_those_of_the_model_task_by_task(dataset, norm, embedding, method):
    classifier = "cosine" if method == "samovar" else "euclidean"
    s = ModelSettings(
        method=method, backbone="resnet12", classifier=classifier, size=12, width=2, norm=norm, task_embedding=embedding
    )
    model = FewShotModel(s).eval()
    if embedding:
        for multiplier in model.task_embedding.multipliers:
            torch.nn.init.constant_(multiplier, 0.5)
    evaluator = TaskEvaluator(model, dataset, Normalisation.standard(dataset.store), CPU)
    episodes = EpisodeSampler(dataset, EpisodeSettings(3, 2, 2), 0).draw(0, 3)
    together = evaluator.answer(episodes, 0, 16, seed=0).probabilities
    for task in range(3):
        support, query = (evaluator.source.inputs(i[task : task + 1]) for i in (episodes.support, episodes.query))
        with torch.no_grad():
            prior, films = model.condition(support, torch.tensor(episodes.support_labels[task : task + 1]), 3)
            features = model.embed(query, films if method == "prototypes" else None)
            alone = predict(model.classifier, prior, features, 16, PredictiveNoise(0, [task])).probabilities
        torch.testing.assert_close(together[task : task + 1], alone, rtol=1e-3, atol=1e-4)


def test_a_model_switched_to_episode_norm_is_not_answered_from_the_cache(dataset):
    model = FewShotModel(ModelSettings(size=12, width=4))
    normalisation = Normalisation.standard(dataset.store)
    assert TaskEvaluator(model, dataset, normalisation, CPU)._features is not None
    set_norm(model, "episode")
    assert TaskEvaluator(model, dataset, normalisation, CPU)._features is None


def test_interval():
    tasks = np.array([0.2, 0.4, 0.9, 0.5])
    accuracy = Accuracy.of(tasks)
    assert accuracy.mean == pytest.approx(0.5)
    assert accuracy.ci95 == pytest.approx(1.96 * np.std(tasks, ddof=1) / 2)
    assert str(accuracy) == "50.00 ± 28.85 %"
    assert Accuracy.of(np.array([1.0])).ci95 == 0


def test_evaluate_command_and_python_agree_and_repeat(tmp_path, data_folder, capsys):
    split = {
        "train": ["class 0", "class 1", "class 2"],
        "val": ["class 3", "class 4"],
        "test": [f"class {i}" for i in range(5, 9)],
    }
    store = make_store(data_folder, [12] * 9, (12, 12, 3), split)
    settings = ModelSettings(size=12, width=4)
    training = {"settings": {"data": {"name": "toy", "scheme": None, "rotations": False}}}
    saved = SavedModel(FewShotModel(settings), Normalisation.standard(store), training)
    save_model(saved, tmp_path / "run" / "model")
    flags = ["--way", "3", "--shot", "2", "--queries", "4", "--episodes", "25", "--samples", "20"]
    for folder in ("one", "two"):
        assert main(["evaluate", str(tmp_path / "run"), *flags, "--out", str(tmp_path / folder)]) == 0
    assert "25 tasks x 4 queries per class, 20 samples" in " ".join(capsys.readouterr().out.split())
    written = [(tmp_path / folder / "evaluation.json").read_bytes() for folder in ("one", "two")]
    assert written[0] == written[1]
    summary = json.loads(written[0])
    evaluation = samovar.evaluate(saved, samovar.Protocol(way=3, shot=2, queries=4, episodes=25, samples=20))
    assert evaluation.summary == summary
    assert {"mean", "ci95"} == set(summary["accuracy"]) == set(summary["nll"]) == set(summary["brier"])
    assert summary["protocol"]["norm"] == "running"
    with np.load(tmp_path / "one" / "evaluation.npz") as tasks:
        assert tasks["predictive_accuracy"].shape == (25,)
        assert tasks["predictive_accuracy"].mean() == pytest.approx(summary["accuracy"]["mean"])
    assert main(["evaluate", str(tmp_path / "run"), *flags, "--way", "9", "--out", str(tmp_path / "three")]) == 2
    assert "too few classes" in capsys.readouterr().err
    assert main(["evaluate", str(tmp_path / "nothing")]) == 2


def test_named_protocols():
    assert named_protocol("paper", 5) == Protocol(5, 5, 15, episodes=5000, samples=1000)
    assert named_protocol("tadam", 1) == Protocol(5, 1, 100, pooled_queries=True, episodes=5000, samples=1000)
    assert named_protocol("versa", 5) == Protocol(5, 5, 5, episodes=600, samples=1000)
