"""An evaluation in two sentences for people who do not know its metrics."""

from collections.abc import Sequence

from samovar.evaluation.metrics import ReliabilityBin
from samovar.evaluation.results import EvaluationResults

SURE = 0.9
"""The probability of which the second sentence speaks, as nearly as there are answers."""
ENOUGH = 0.01
"""The share of all answers that a bin must have to be spoken of."""


def in_plain_words(results: EvaluationResults) -> str:
    """Say how many answers are right, and whether the probabilities can be believed."""
    protocol = results.protocol
    metrics = results.predictive
    images = "images" if protocol.shot > 1 else "image"
    sentences = [
        f"{100 * metrics.accuracy.mean:.0f} of 100 answers are right, where guessing among "
        f"{protocol.way} classes would get {100 / protocol.way:.0f}; the model has seen "
        f"{protocol.shot} {images} of each class."
    ]
    spoken_of = _nearest_bin(metrics.reliability)
    if spoken_of is not None:
        sentences.append(
            f"Where it says {100 * spoken_of.confidence:.0f} %, it is right in "
            f"{100 * spoken_of.accuracy:.0f} % of cases."
        )
    return " ".join(sentences)


def _nearest_bin(bins: Sequence[ReliabilityBin]) -> ReliabilityBin | None:
    """Return the bin whose mean probability is nearest to SURE, of those with enough answers."""
    answers = sum(entry.queries for entry in bins)
    filled = [entry for entry in bins if entry.queries >= ENOUGH * answers]
    return min(filled, key=lambda entry: abs(entry.confidence - SURE), default=None)
