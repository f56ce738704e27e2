"""Accuracy over tasks: the cached route and the plain route agree, and the interval is the one stated."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import make_store

import samovar
from samovar.cli import main
from samovar.config import EpisodeSettings, ModelSettings, Protocol, named_protocol
from samovar.data.augmentation import Normalisation
from samovar.data.dataset import Dataset
from samovar.data.episodes import EpisodeSampler, draw_outside
from samovar.data.prepare import prepare
from samovar.data.store import ClassEntry, Contents, Store, write_store
from samovar.distance import cosine_distance
from samovar.draw_task import draw_task
from samovar.evaluation import Accuracy, Evaluator, measure_accuracy, training_dataset
from samovar.evaluation_plots import sampling_figure
from samovar.evaluation_report import html_report
from samovar.experiments.posterior import SAMPLES, prior_and_posterior
from samovar.experiments.sampling import Ladder, sampling_study
from samovar.model_folder import SavedModel, evaluation_folder, locate_model, save_model
from samovar.models.model import FewShotModel
from samovar.models.norm import set_norm
from samovar.predictive import predict
from samovar.predictive_noise import PredictiveNoise
from samovar.rejection import measure_rejection
from samovar.task_evaluator import TaskEvaluator

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


def noisy_store(folder: Path) -> Store:
    """Eight classes, each a pattern of its own under noise."""

    def read(position: int) -> np.ndarray:
        noise = np.random.default_rng(position)
        pattern = noise.integers(0, 256, (12, 12, 3))
        return np.clip(pattern + noise.normal(0, 60, (40, 12, 12, 3)), 0, 255).astype(np.uint8)

    names = [f"class {i}" for i in range(8)]
    split = {"all": {"train": names, "val": [], "test": []}}
    contents = Contents([ClassEntry(name, 40) for name in names], (12, 12, 3), read, split)
    facts = {"source_name": "toy", "title": "toy", "licence": "none", "citation": "none"}
    return write_store("noisy", facts, contents, folder)


def test_thresholds_for_rejection_have_their_rates_on_other_tasks_of_the_shape(tmp_path):
    """Quantiles of the distance of queries that belong: at a rate of 20 % about 20 % of new ones are above."""
    dataset = Dataset(noisy_store(tmp_path))
    model = FewShotModel(ModelSettings(size=12, width=8)).eval()
    evaluator = TaskEvaluator(model, dataset, Normalisation.standard(dataset.store), CPU)
    table = measure_rejection(evaluator, seed=0)
    shapes = {(way, shot) for way in (1, 2, 3, 5) for shot in (1, 2, 5, 10, 20)}
    assert {(cell.way, cell.shot) for cell in table.cells} == shapes
    episodes = EpisodeSampler(dataset, EpisodeSettings(3, 2, 7), seed=1).draw(0, 100)
    query, means = evaluator.features(episodes.query), evaluator.class_means(episodes)
    own = means.repeat_interleave(7, 1)  # seven queries of each class
    for way, distances in (
        (3, cosine_distance(query, means)),
        (1, torch.stack([cosine_distance(query[:, i : i + 1], own[:, i : i + 1]) for i in range(21)])),
    ):
        for rate in (0.5, 0.2, 0.1):
            threshold, cell = table.threshold(way, np.full(way, 2), rate)
            assert (cell.way, cell.shot) == (way, 2)
            assert (distances > threshold).float().mean().item() == pytest.approx(rate, abs=0.07)


@pytest.mark.parametrize("method", ["samovar", "prototypes"])
def test_distances_are_of_unconditioned_features_and_none_under_episode_norm(tmp_path, method):
    dataset = Dataset(noisy_store(tmp_path))
    classifier = "cosine" if method == "samovar" else "euclidean"
    settings = ModelSettings(
        backbone="resnet12", size=12, width=2, task_embedding=True, method=method, classifier=classifier
    )
    model = FewShotModel(settings).eval()
    for multiplier in model.task_embedding.multipliers:
        torch.nn.init.constant_(multiplier, 0.5)
    evaluator = TaskEvaluator(model, dataset, Normalisation.standard(dataset.store), CPU)
    protocol = Protocol(3, 2, 4, episodes=25, samples=4, split="train")
    answers = evaluator.answers(protocol)
    episodes = EpisodeSampler(dataset, protocol.tasks, protocol.seed).draw(0, 25)
    with torch.no_grad():
        support, query = (model.embed(evaluator.source.inputs(i)) for i in (episodes.support, episodes.query))
    means = support.unflatten(1, (3, 2)).mean(2)
    for each in answers.values():
        np.testing.assert_allclose(each.distance, cosine_distance(query, means).numpy(), atol=1e-5)
    set_norm(model, "episode")
    again = TaskEvaluator(model, dataset, Normalisation.standard(dataset.store), CPU).answers(protocol)
    assert again["predictive"].distance is None


def test_a_model_switched_to_episode_norm_is_not_answered_from_the_cache(dataset):
    model = FewShotModel(ModelSettings(size=12, width=4))
    normalisation = Normalisation.standard(dataset.store)
    assert TaskEvaluator(model, dataset, normalisation, CPU)._features is not None
    set_norm(model, "episode")
    assert TaskEvaluator(model, dataset, normalisation, CPU)._features is None


@pytest.mark.parametrize("norm", ["running", "episode"])
def test_prior_and_posterior_are_told_apart_under_both_norms(dataset, norm):
    """The prior's average is the evaluation with as many samples; the posterior has also seen the queries' labels."""
    torch.manual_seed(0)
    model = FewShotModel(ModelSettings(size=12, width=4, norm=norm))
    evaluator = TaskEvaluator(model, dataset, Normalisation.standard(dataset.store), CPU)
    protocol = Protocol(3, 1, 4, episodes=30, samples=SAMPLES)
    found = prior_and_posterior(evaluator, protocol)
    assert found["prior average"]["mean"] == pytest.approx(measure_accuracy(evaluator, protocol).mean)
    assert found["posterior average"]["mean"] != found["prior average"]["mean"]


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


@pytest.fixture
def trained(tmp_path, data_folder):
    """A model with its data: images of one class are alike, so that even an untrained network is above chance."""
    parts = {"train": range(4), "val": range(4, 11), "test": range(11, 20)}
    split = {part: [f"class {i}" for i in classes] for part, classes in parts.items()}
    store = make_store(data_folder, [12] * 11 + [60] * 9, (12, 12, 3), split)
    training = {"settings": {"data": {"name": "toy", "scheme": None, "rotations": False}}}
    saved = SavedModel(FewShotModel(ModelSettings(size=12, width=4)), Normalisation.standard(store), training)
    save_model(saved, tmp_path / "run" / "model")
    return saved


SMALL = Protocol(3, 2, 4, episodes=45, samples=20)


def test_queries_from_outside_are_of_other_classes_and_change_no_other_figure(trained):
    plain, mixed = (samovar.evaluate(trained, replace(SMALL, outside=outside)).summary for outside in (0, 6))
    for name in ("accuracy", "nll", "brier", "ece", "reliability", "risk_coverage", "classes"):
        assert plain[name] == mixed[name], name
    assert plain["uncertainty"]["entropy"]["outside_auroc"] is None
    assert 0 < mixed["uncertainty"]["entropy"]["outside_auroc"]["value"] < 1
    assert mixed["mean_classifier"]["uncertainty"]["mutual_information"] is None
    dataset = training_dataset(trained, "test")
    episodes = EpisodeSampler(dataset, SMALL.tasks, 0).draw(7, 5)
    others = draw_outside(dataset, episodes, 7, 50, seed=0)
    classes = np.searchsorted(dataset.starts, others, side="right") - 1
    assert not (classes[:, :, None] == episodes.classes[:, None]).any()
    assert (others < (dataset.starts + dataset.counts)[classes]).all()
    assert len(np.unique(classes[0])) == len(dataset) - 3, "every other class is drawn"
    np.testing.assert_array_equal(
        others[2:3], draw_outside(dataset, EpisodeSampler(dataset, SMALL.tasks, 0).draw(9, 1), 9, 50, 0)
    )


@pytest.mark.usefixtures("trained")
def test_what_cannot_be_measured_is_refused_before_any_work(tmp_path, capsys):
    run, out = str(tmp_path / "run"), ("--queries", "4", "--out", str(tmp_path / "out"))
    for flags, words in (
        (("--outside", "3", "--norm", "episode"), "--norm running"),
        (("--outside", "3", "--way", "9"), "no class outside a task of 9"),
        (("--way", "5", "30"), "too few classes"),
        (("--shot", "57"), "shot + queries"),
        (("--split", "val", "--way", "8"), "too few classes"),
        (("--draw", "1000"), "--draw"),
    ):
        assert main(["evaluate", run, *flags, *out]) == 2, flags
        assert words in capsys.readouterr().err
    assert not (tmp_path / "out" / "evaluation.json").exists()


def test_temperatures_are_fitted_on_validation_classes_or_the_reason_is_given(trained):
    summary = samovar.evaluate(trained, SMALL).summary
    assert summary["mean_classifier_tempered"]["temperature"] > 0
    assert "toy (val, 7 classes)" in summary["temperature_note"]
    assert summary["mean_classifier_tempered"]["accuracy"] == summary["mean_classifier"]["accuracy"]
    for protocol, reason in (
        (replace(SMALL, way=8), "too few classes"),
        (replace(SMALL, split="val"), "these are evaluated"),
    ):
        summary = samovar.evaluate(trained, protocol).summary
        assert "mean_classifier_tempered" not in summary
        assert reason in summary["temperature_note"]


@pytest.mark.usefixtures("trained")
def test_several_shapes_in_one_call_are_those_of_single_calls(tmp_path):
    flags = ["--queries", "4", "--episodes", "25", "--samples", "20"]
    command = ["evaluate", str(tmp_path / "run"), *flags]
    assert main([*command, "--way", "2", "4", "--shot", "1", "3", "--draw", "1", "--out", str(tmp_path / "all")]) == 0
    assert main([*command, "--way", "4", "--shot", "3", "--out", str(tmp_path / "one")]) == 0
    both = [(tmp_path / path / "evaluation.json").read_bytes() for path in ("all/4way-3shot", "one")]
    assert both[0] == both[1]
    page = (tmp_path / "all" / "report.html").read_text()
    assert page.count("<h2>") == 4
    assert page.count("data:image/png;base64,") == 1 + 4 * 4
    assert "http" not in page, "the report needs nothing from elsewhere"
    assert (tmp_path / "all" / "2way-1shot" / "episode-0.png").exists()
    assert (tmp_path / "all" / "accuracy.png").exists()


def test_reports_do_not_trust_names():
    page = html_report("<script>alert(1)</script>", [(hostile_summary(), {"<b>": b"0" * 24})], {})
    assert "<script>" not in page
    assert "<b>" not in page


def hostile_summary() -> dict:
    figure = {"mean": 0.5, "ci95": 0.1}
    nothing = dict.fromkeys(("max_probability", "entropy", "mutual_information"))
    return {
        "protocol": {"way": 5, "shot": 1, "text": "<script>x</script>"},
        "model": {"method": "samovar", "backbone": "<b>", "classifier": "linear"},
        "data": "<script>",
        "temperature_note": "<script>",
        "accuracy": figure,
        "nll": figure,
        "brier": figure,
        "ece": {"value": 0.1, "ci95": [0.0, 0.2]},
        "uncertainty": nothing,
    }


@pytest.mark.usefixtures("trained")
@pytest.mark.parametrize("norm", ["running", "episode"])
def test_two_processes_measure_what_one_does(tmp_path, norm):
    """Under running norm they share the embedding of the test images too (three chunks), not that of the few others."""
    flags = ["evaluate", str(tmp_path / "run"), "--way", "3", "--queries", "4", "--episodes", "45", "--samples", "20"]
    flags += ["--norm", norm, "--sampling-study"]
    for launcher, out in (
        ((), "one"),
        (("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"), "two"),
    ):
        command = [sys.executable, *launcher, "-m", "samovar", *flags, "--out", str(tmp_path / out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    one, two = (json.loads((tmp_path / out / "evaluation.json").read_text()) for out in ("one", "two"))
    assert one["accuracy"]["mean"] == pytest.approx(two["accuracy"]["mean"], abs=1e-4)
    assert one["nll"]["mean"] == pytest.approx(two["nll"]["mean"], abs=1e-5)
    assert one["classes"] == two["classes"]
    for name, measure in one["uncertainty"].items():
        if measure is None:
            assert two["uncertainty"][name] is None
        else:
            assert measure["mean"] == pytest.approx(two["uncertainty"][name]["mean"], abs=1e-5)
    assert (one["uncertainty"]["distance"] is None) == (norm == "episode")
    temperatures = [each["predictive_tempered"]["temperature"] for each in (one, two)]
    assert temperatures[0] == pytest.approx(temperatures[1], rel=1e-3)
    one, two = (json.loads((tmp_path / out / "sampling.json").read_text()) for out in ("one", "two"))
    assert one["mean_classifier"]["accuracy"] == pytest.approx(two["mean_classifier"]["accuracy"], abs=1e-4)
    for ours, theirs in zip(one["results"], two["results"], strict=True):
        assert ours["error"] == pytest.approx(theirs["error"], rel=1e-3)


def test_intervals_of_small_evaluations_cover_the_long_run_mean(tmp_path):
    """Real tasks, real model: 200 evaluations of 30 tasks, each under a seed of its own."""
    noise = np.random.default_rng(0)
    labels = np.arange(600) % 20
    np.savez(
        tmp_path / "f.npz", features=noise.normal(size=(20, 6))[labels] + noise.normal(size=(600, 6)), labels=labels
    )
    store = prepare("features", tmp_path / "f.npz")
    model = FewShotModel(
        ModelSettings(method="prototypes", classifier="squared", alpha=1.0, backbone="identity", size=6)
    )
    evaluator = TaskEvaluator(model, Dataset(store, "train"), Normalisation.standard(store), CPU)
    protocol = Protocol(5, 1, 5, episodes=30, samples=1, split="train")
    truth = measure_accuracy(evaluator, replace(protocol, episodes=6000, seed=999)).mean
    found = [measure_accuracy(evaluator, replace(protocol, seed=seed)) for seed in range(200)]
    assert 0.89 < np.mean([abs(each.mean - truth) <= each.ci95 for each in found]) < 0.99


def test_the_sampling_study_finds_errors_that_fall_with_the_number_of_samples(trained):
    evaluator = Evaluator(trained, training_dataset(trained, "test")).tasks(SMALL)
    study = sampling_study(evaluator, SMALL, Ladder(plain=(1, 10, 100, 1000), quasi=(16, 128), repeats=4))
    errors = {(row["kind"], row["samples"]): row["error"] for row in study["results"]}
    assert errors["plain", 1] > 2 * errors["plain", 10] > 4 * errors["plain", 100]
    assert errors["quasi", 128] < errors["plain", 100]
    assert all(len(row["accuracy"]) == 4 for row in study["results"])
    enough = [count for count in (16, 128) if errors["quasi", count] <= errors["plain", 1000]]
    assert study["quasi_equal_to_1000"] == (min(enough) if enough else None)
    assert sampling_figure(study, study).startswith(b"\x89PNG")


def two_schemes(folder: Path, model: Path) -> SavedModel:
    """A model trained by the second of two splits of the same images."""
    names = [f"class {i}" for i in range(8)]
    store = make_store(
        folder, [12] * 8, (12, 12, 3), {"train": names[:2], "val": names[2:4], "test": names[4:]}, "schemes"
    )
    splits = store.facts["splits"] | {"other": {"train": names[6:], "val": names[4:6], "test": names[:4]}}
    contents = Contents(
        store.classes, (12, 12, 3), lambda position: store.array[12 * position : 12 * position + 12], splits
    )
    store = write_store("schemes", {"licence": "none"}, contents, folder)
    training = {"settings": {"data": {"name": "schemes", "scheme": "other", "rotations": False}}}
    saved = SavedModel(FewShotModel(ModelSettings(size=12, width=4)), Normalisation.standard(store), training)
    save_model(saved, model)
    return saved


def test_other_splits_of_the_same_images_are_other_data(tmp_path, data_folder, capsys, monkeypatch):
    saved = two_schemes(data_folder, tmp_path / "first")
    first_scheme = replace(
        saved, training={"settings": {"data": {"name": "schemes", "scheme": None, "rotations": False}}}
    )
    save_model(first_scheme, tmp_path / "second")
    flags = ["--way", "2", "--queries", "3", "--episodes", "5", "--samples", "5"]
    monkeypatch.chdir(tmp_path)
    for arguments in (["first"], ["first", "--data", "schemes", "--out", "named"], ["second"]):
        assert main(["evaluate", *arguments, *flags]) == 0
    assert "schemes (test of other, 4 classes)" in " ".join(capsys.readouterr().out.split())
    same, named = (json.loads((tmp_path / f / "evaluation.json").read_text()) for f in ("first/evaluation", "named"))
    assert same == named, "the model's own data by name is split as it was trained"
    assert main(["compare", "first", "named"]) == 0
    assert main(["compare", "first", "second"]) == 2
    assert "data or its split" in capsys.readouterr().err


def test_every_model_has_its_own_evaluation_folder():
    assert evaluation_folder(Path("runs/glyphs/model")) == Path("runs/glyphs/evaluation")
    assert evaluation_folder(Path("models/mine")) == Path("models/mine/evaluation")
    assert evaluation_folder(locate_model("glyphs")) == Path("evaluation/glyphs")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--data", "small"], "but the model expects (12, 12, 3)"),
        (["--device", "abacus"], "cpu, cuda, mps or auto"),
        (["--way"], "need a number each"),
        (["--named", "versa", "--episodes", "8"], "leave out those flags"),
        (["--data", "nope"], "no prepared data called"),
    ],
)
@pytest.mark.usefixtures("trained")
def test_impossible_evaluations_are_refused_before_work(tmp_path, data_folder, capsys, flags, words):
    make_store(data_folder, [12] * 9, (6, 6, 3), name="small")
    assert main(["evaluate", str(tmp_path / "run"), *flags, "--out", str(tmp_path / "out")]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_drawn_tasks_are_those_of_the_protocol(trained):
    """Pooled queries are drawn as they are evaluated, even where no class has as many images as there are queries."""
    pooled = Protocol(3, 8, 70, pooled_queries=True, episodes=1, samples=5, quasi=True)
    evaluator = Evaluator(trained, training_dataset(trained, "test")).tasks(pooled)
    assert draw_task(evaluator, pooled, 0).startswith(b"\x89PNG")


def test_named_protocols():
    assert named_protocol("paper", 5) == Protocol(5, 5, 15, episodes=5000, samples=1000)
    assert named_protocol("tadam", 1) == Protocol(5, 1, 100, pooled_queries=True, episodes=5000, samples=1000)
    assert named_protocol("versa", 5) == Protocol(5, 5, 5, episodes=600, samples=1000)
