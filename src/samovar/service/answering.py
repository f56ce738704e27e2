"""Answers to the images of a request, and which of them to label next."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from samovar.classifier.suggestions import suggest
from samovar.core.progress import Progress
from samovar.service.documents import AnswerDocument, Answers
from samovar.service.examples import ReadImages, read_uploads
from samovar.service.prediction_sets import prediction_sets
from samovar.service.stored_task import StoredTask
from samovar.service.uploads import Upload


def answer_uploads(task: StoredTask, uploads: Sequence[Upload], progress: Progress) -> Answers:
    """Answer images in the order in which they were sent."""
    images = read_uploads(uploads, task.fitted.saved, task.info.model, progress)
    return Answers(answers=answers_to(task, images), skipped=images.skipped)


def suggest_uploads(
    task: StoredTask, uploads: Sequence[Upload], count: int, progress: Progress
) -> Answers:
    """Answer the images that should be labelled next, the most useful first."""
    images = read_uploads(uploads, task.fitted.saved, task.info.model, progress)
    suggested = suggest(task.fitted, list(images.inputs), count, task.info.parameters)
    chosen = images.at(suggested.positions.tolist())
    return Answers(answers=answers_to(task, chosen), skipped=images.skipped)


def answers_to(task: StoredTask, images: ReadImages) -> list[AnswerDocument]:
    """Return the answers to images that are encoded already."""
    answer = task.fitted.answer(images.inputs, task.info.parameters)
    names = [str(label) for label in task.classes]
    sets = prediction_sets(task, images.inputs, answer.probabilities)
    information = answer.uncertainty.mutual_information
    documents = []
    for row, upload in enumerate(images.uploads):
        document = AnswerDocument(
            name=upload.file.name,
            position=images.positions[row],
            label=str(answer.labels[row]),
            best=names[int(answer.probabilities[row].argmax())],
            probabilities=_by_class(names, answer.probabilities[row]),
            spread=None if answer.spread is None else _by_class(names, answer.spread[row]),
            prediction_set=sets[row],
            entropy=float(answer.uncertainty.entropy[row]),
            mutual_information=None if information is None else float(information[row]),
            rejected=bool(answer.rejected[row]),
            distance=float(answer.distance[row]),
        )
        documents.append(document)
    return documents


def _by_class(names: Sequence[str], values: NDArray[np.float64]) -> dict[str, float]:
    return dict(zip(names, values.tolist(), strict=True))
