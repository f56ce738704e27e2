"""What a finished run leaves: its test figure, training.png, episode.png."""

import json

import torch

from samovar.config import EpisodeSettings
from samovar.data.episodes import EpisodeSampler
from samovar.files import write_whole
from samovar.plots import episode_figure, training_figure
from samovar.run_config import Published
from samovar.run_folder import RunFolder, read_metrics
from samovar.task_evaluator import TaskEvaluator
from samovar.training import Run
from samovar.training_setup import store_dataset


def write_report(run: Run, published: Published | None = None) -> None:
    """Pictures and the figure, and where they are."""
    protocol = str(run.settings.validation.protocol(run.settings.seed, test=True))
    dataset = store_dataset(run.settings, "test")
    summary = {
        "accuracy": {"mean": run.test.mean, "ci95": run.test.ci95},
        "protocol": protocol,
        "norm": run.settings.model.norm,
        "data": dataset.description,
    }
    write_whole(run.folder / "test.json", json.dumps(summary, indent=1).encode())
    write_whole(run.folder / "training.png", training_figure(read_metrics(RunFolder(run.folder).metrics)))
    drawn = [f"{run.folder / 'training.png'}"]
    if len(dataset.store.facts["shape"]) == 3:
        write_whole(run.folder / "episode.png", _draw_episode(run))
        drawn.append(f"{run.folder / 'episode.png'}")
    print(f"Test accuracy {run.test} ({protocol}, {run.settings.model.norm} norm; {dataset.description})")
    if published is not None:
        print(
            f"Published (table {published.table}): {published.accuracy} ± {published.ci95} %, by the paper's protocol."
        )
    print(f"Model: {RunFolder(run.folder).model}")
    print(f"Pictures: {', '.join(drawn)}")


def _draw_episode(run: Run) -> bytes:
    v = run.settings.validation
    dataset = store_dataset(run.settings, "test")
    settings = EpisodeSettings(v.way, v.shot, min(v.queries, -(-12 // v.way)))
    episodes = EpisodeSampler(dataset, settings, run.settings.seed + 1).draw(0, 1)
    evaluator = TaskEvaluator(run.model.model, dataset, run.model.normalisation, torch.device("cpu"))
    run.model.model.cpu()
    prediction = evaluator.answer(episodes, 0, 1000, run.settings.seed)
    support, query = (dataset.gather(indices[0]).numpy() for indices in (episodes.support, episodes.query))
    names = [dataset.class_names[position] for position in episodes.classes[0]]
    return episode_figure(support, episodes.support_labels[0], query, episodes.query_labels[0], prediction, names)
