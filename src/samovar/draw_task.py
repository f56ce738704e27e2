"""One task with what a model believes of it, as a picture."""

from samovar.config import EpisodeSettings, Protocol
from samovar.data.episodes import EpisodeSampler
from samovar.plots import episode_figure
from samovar.task_evaluator import TaskEvaluator


def draw_task(evaluator: TaskEvaluator, protocol: Protocol, number: int) -> bytes:
    """One task with at most twelve or so of its queries: images, and the probabilities that the model gives."""
    settings = EpisodeSettings(protocol.way, protocol.shot, min(protocol.queries, -(-12 // protocol.way)))
    dataset = evaluator.dataset
    episodes = EpisodeSampler(dataset, settings, protocol.seed).draw(number, 1)
    prediction = evaluator.answer(episodes, number, protocol.samples, protocol.seed)
    support, query = (dataset.gather(indices[0]).numpy() for indices in (episodes.support, episodes.query))
    names = [dataset.class_names[position] for position in episodes.classes[0]]
    return episode_figure(support, episodes.support_labels[0], query, episodes.query_labels[0], prediction, names)
