"""`samovar evaluate RUN_OR_MODEL`."""

from pathlib import Path
from typing import Annotated, Literal

import tyro


def evaluate(
    model: Annotated[Path, tyro.conf.Positional],
    *,
    way: tuple[int, ...] = (5,),
    shot: tuple[int, ...] = (1,),
    queries: int = 15,
    pooled_queries: bool = False,
    episodes: int = 5000,
    samples: int = 1000,
    split: Literal["test", "val", "train"] = "test",
    norm: Literal["as trained", "running", "episode"] = "as trained",
    outside: int = 0,
    quasi: bool = False,
    named: Literal["paper", "tadam", "versa"] | None = None,
    temperature: bool = True,
    draw: int = 0,
    sampling_study: bool = False,
    data: str | None = None,
    device: str = "auto",
    seed: int = 0,
    out: Path | None = None,
) -> None:
    """Measure a model: accuracy, likelihood, calibration, and what its uncertainty is worth, with 95 % intervals.

    The figures are given for the mean over sampled classifiers and for the one classifier at the mean of the predicted
    weights, each as it is and with a temperature fitted on validation tasks: so one sees what averaging buys. Writes
    evaluation.json, evaluation.npz with the figures of each task (for `samovar compare`), report.html and its pictures.
    With several ways or shots, each has a folder of its own (such as 5way-1shot) beside the common report.
    Under torchrun the processes share the work.

    Args:
        model: A run folder, a model folder, or a shipped model (glyphs, omniglot, cifar_fs).
        way: Classes of a task; several for several evaluations.
        shot: Support images of each class; several for several evaluations.
        queries: Query images of each class; of the whole task with --pooled-queries.
        pooled_queries: Draw the queries from the pooled rest of the task's classes (TADAM's way).
        episodes: Tasks.
        samples: Samples of the classifier for the predictive.
        split: Which part of the data.
        norm: Batch norm at test; episode is transductive.
        outside: Queries of each task from classes that are not in it, to be found by their uncertainty ("none of
            these"); they enter no other figure. With running norm only.
        quasi: Quasi-random samples instead of random ones; far fewer of them are enough.
        named: The protocol of a paper instead of the flags: paper (5-way, 5000 tasks x 15 per class), tadam (100
            queries in all) or versa (600 tasks, as many queries as shots); --shot, --split, --seed, --norm and
            --outside still count.
        temperature: Fit temperatures on validation tasks, and show what they do.
        draw: Draw so many tasks with their predictions.
        sampling_study: Also measure accuracy over the number of sampled classifiers, 1 to 10,000, ten times each, on
            the first 1000 tasks; minutes to an hour.
        data: A prepared data set; the one that the model was trained on if not given.
        device: cpu, cuda, mps or auto.
        seed: Which tasks, and which samples.
        out: Folder for the results; evaluation/ in the run or model folder if not given.
    """
    from samovar.errors import SettingsError
    from samovar.reporting.evaluation_folder import Wanted, run_evaluation
    from samovar.settings.tasks import Protocol, named_protocol

    if not way or not shot:
        raise SettingsError("--way and --shot need a number each, or several.")
    if named is None:
        rest = (queries, pooled_queries, episodes, samples, seed, split, norm, outside, quasi)
        protocols = [Protocol(w, s, *rest) for w in dict.fromkeys(way) for s in dict.fromkeys(shot)]
    else:
        if (way, queries, pooled_queries, episodes, samples) != ((5,), 15, False, 5000, 1000):
            raise SettingsError(
                f"--named {named} says way, queries, episodes and samples: leave out those flags."
            )
        kept = {"split": split, "seed": seed, "norm": norm, "outside": outside, "quasi": quasi}
        protocols = [named_protocol(named, s, **kept) for s in dict.fromkeys(shot)]
    wanted = Wanted(protocols, temperature, draw, sampling_study, data, device, out)
    run_evaluation(model, wanted)
