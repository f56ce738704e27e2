"""An evaluation in a few sentences for people who do not know its metrics."""

from collections.abc import Sequence

from samovar.evaluation.metrics import Estimate, ReliabilityBin
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
    sentences.append(_sureness(metrics.gap))
    spoken_of = _nearest_bin(metrics.reliability)
    if spoken_of is not None:
        sentences.append(
            f"Where it says {100 * spoken_of.confidence:.0f} %, it is right in "
            f"{100 * spoken_of.accuracy:.0f} % of cases."
        )
    return " ".join(sentences)


def _sureness(gap: Estimate) -> str:
    """Say whether the answers are too sure or too modest on average, and by how much."""
    points = f"{100 * abs(gap.mean):.1f}"
    if points == "0.0" or not gap.excludes_zero:
        return "On average it is as sure as it should be, as far as these tasks can tell."
    word = "too sure" if gap.mean > 0 else "too modest"
    return f"On average it is {word} by {points} points."


def _nearest_bin(bins: Sequence[ReliabilityBin]) -> ReliabilityBin | None:
    """Return the bin whose mean probability is nearest to SURE, of those with enough answers."""
    answers = sum(entry.queries for entry in bins)
    filled = [entry for entry in bins if entry.queries >= ENOUGH * answers]
    return min(filled, key=lambda entry: abs(entry.confidence - SURE), default=None)
