"""The picture has a row for each class and each other folder."""

import numpy as np
from helpers_images import drawn

from samovar.classifier.answer import Answer, Uncertainty
from samovar.classifier.score_report import score_answers
from samovar.reporting.figures.confusion import confusion_figure


def figure_of(truths: list[str], classes: list[str]) -> np.ndarray:
    table = np.full((len(truths), len(classes)), 1 / len(classes))
    none = np.zeros(len(truths))
    labels = np.array([classes[0]] * len(truths))
    answer = Answer(labels, table, Uncertainty(none, None), none.astype(bool), none)
    return drawn(confusion_figure(score_answers(answer, truths, classes)))


def test_the_size_follows_the_classes():
    few = figure_of(["a", "b"], ["a", "b", "薔薇"])
    more = figure_of(["a", "b", "owl", "elk"], ["a", "b", "薔薇"])
    many = figure_of(["0"], [str(number) for number in range(120)])
    assert few.shape[0] < more.shape[0] < many.shape[0] <= 24 * 200
