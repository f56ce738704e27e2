"""Which classes are easy, which are hard, and what the hard ones are taken for."""

from typing import Any

import numpy as np

from samovar.data.dataset import Dataset
from samovar.data.episodes import EpisodeSampler
from samovar.evaluation.outcomes import Outcomes
from samovar.settings.tasks import Protocol

SHOWN = 10
MISTAKEN_FOR = 5


def per_class_metrics(dataset: Dataset, protocol: Protocol, answers: Outcomes) -> dict[str, Any]:
    """The hardest and the easiest classes by accuracy of their queries.

    Of a hard class also what it is taken for: of its queries in tasks where both classes are, the share that was
    answered with the other one.
    """
    sampler, inside = EpisodeSampler(dataset, protocol.tasks, protocol.seed), answers.inside
    classes = np.concatenate([sampler.draw(task, 1).classes for task in range(protocol.episodes)])
    truth, given = (np.take_along_axis(classes, each, 1) for each in (inside.label, inside.answer))
    asked = np.bincount(truth.ravel(), minlength=len(dataset))
    right = np.bincount(truth[inside.right], minlength=len(dataset))
    seen = np.flatnonzero(asked)
    order = seen[np.argsort(right[seen] / asked[seen], kind="stable")]

    def row(position: int) -> dict[str, Any]:
        accuracy = right[position] / asked[position]
        return {
            "name": dataset.class_names[position],
            "queries": int(asked[position]),
            "accuracy": float(accuracy),
        }

    def with_mistakes(position: int) -> dict[str, Any]:
        tasks, queries = np.nonzero(truth == position)
        beside = np.bincount(classes[tasks].ravel(), minlength=len(dataset))
        answered = np.bincount(given[tasks, queries], minlength=len(dataset))
        answered[position] = 0
        share = answered / np.maximum(1, beside)
        worst = [
            each for each in np.argsort(-share, kind="stable")[:MISTAKEN_FOR] if answered[each]
        ]
        taken = [{"name": dataset.class_names[each], "share": float(share[each])} for each in worst]
        return row(position) | {"taken_for": taken}

    return {
        "hardest": [with_mistakes(position) for position in order[:SHOWN]],
        "easiest": [row(position) for position in order[::-1][:SHOWN]],
    }
