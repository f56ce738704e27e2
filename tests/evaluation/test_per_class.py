"""Classes are ranked by the accuracy of their queries, with the mistakes counted by hand."""

import numpy as np
import torch

from samovar.evaluation.outcomes import Outcomes
from samovar.evaluation.per_class import MISTAKEN_FOR, SHOWN, Mistake, per_class_metrics
from samovar.prediction.predictive import Prediction, entropy_of

NAMES = ["ant", "bee", "cat", "dog"]


def outcomes_of(classes: list, labels: list, predicted: list) -> Outcomes:
    probabilities = torch.nn.functional.one_hot(torch.tensor(predicted), len(classes[0])).float()
    prediction = Prediction(probabilities, entropy_of(probabilities))
    return Outcomes.of(prediction, torch.tensor(labels), classes=np.array(classes))


def test_hardest_and_easiest_by_hand():
    """Bees are taken for cats once of two queries beside cats, and never for ants."""
    outcomes = outcomes_of(
        classes=[[1, 2], [0, 1]],  # bee and cat, ant and bee
        labels=[[0, 0, 1], [0, 0, 1]],
        predicted=[[0, 1, 1], [0, 0, 1]],
    )
    ranking = per_class_metrics(NAMES, outcomes)
    hardest = ranking.hardest[0]
    assert (hardest.name, hardest.queries, hardest.accuracy) == ("bee", 3, 2 / 3)
    assert hardest.taken_for == [Mistake("cat", 1 / 2)]
    assert [row.name for row in ranking.easiest] == ["cat", "ant", "bee"]
    assert ranking.easiest[0].accuracy == 1
    assert "dog" not in {row.name for row in ranking.hardest}, "it was in no task"


def test_lists_are_short():
    """Thirty classes, and class 0 is mistaken for a different class in every task."""
    others = list(range(1, 30))
    outcomes = outcomes_of(
        classes=[[0, other] for other in others],
        labels=[[0, 1]] * len(others),
        predicted=[[1, 1]] * len(others),
    )
    ranking = per_class_metrics([f"class {position}" for position in range(30)], outcomes)
    assert len(ranking.hardest) == len(ranking.easiest) == SHOWN
    assert ranking.hardest[0].name == "class 0"
    assert len(ranking.hardest[0].taken_for) == MISTAKEN_FOR
