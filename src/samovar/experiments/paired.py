"""Differences between methods on the same tasks, judged against the paper's.

Every cell belongs to a group; within a group the leading method (SAMOVAR, or augmentation) is
compared with each other one, task by task and over the training seeds that both have. Where the
paper states a difference, ours gets a verdict, and a miss is called a miss.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from samovar.evaluation.comparison import compare
from samovar.evaluation.metrics import Estimate
from samovar.evaluation.seeds import WelchDifference
from samovar.experiments.evidence import Evidence
from samovar.experiments.markdown import points
from samovar.settings.paper import Published

LEADING_METHODS = ("samovar", "augmented")


@dataclass(frozen=True)
class PairedDifference:
    """The leading method minus another one of its group, in one metric."""

    group: str
    first: str
    second: str
    seeds: int
    """Training seeds of each method."""
    over_seeds: WelchDifference | None
    """The difference with its interval over training seeds; None with fewer than two."""
    mean: float
    ci95: float | None
    """Over tasks, for these models; a single task has none."""
    published: float | None
    verdict: str | None

    @property
    def over_tasks(self) -> Estimate:
        """The difference with its interval over tasks."""
        return Estimate(self.mean, self.ci95)

    @property
    def label(self) -> str:
        """What is compared, as tables print it."""
        return f"{self.group}: {self.first} - {self.second}"

    def to_json(self) -> dict[str, Any]:
        """Return the content of a JSON file."""
        return asdict(self)

    def text(self) -> str:
        """Return a line of a list in Markdown."""
        notes = [f"training seeds of each: {self.seeds}"]
        if self.over_seeds is not None:
            notes.append(f"over seeds {points(self.over_seeds)}")
        if self.published is not None:
            notes.append(f"paper {100 * self.published:+.1f}, {self.verdict}")
        return f"- {self.label}: {points(self.over_tasks)} ({'; '.join(notes)})"


def paired_differences(
    evidence: list[Evidence], metric: str = "accuracy"
) -> list[PairedDifference]:
    """Return the differences of all groups that have been measured, in one metric."""
    differences: list[PairedDifference] = []
    for members in _groups(evidence):
        methods = _by_method(members)
        # A group has one of the leading methods at most.
        for leading in LEADING_METHODS:
            for method in methods:
                if leading in methods and method != leading:
                    differences += _compared(methods[leading], methods[method], metric)
    return differences


def _groups(evidence: list[Evidence]) -> list[list[Evidence]]:
    """Return the cells of each group."""
    groups: dict[str, list[Evidence]] = {}
    for member in evidence:
        if member.cell.group:
            groups.setdefault(member.cell.group, []).append(member)
    return list(groups.values())


def _by_method(members: list[Evidence]) -> dict[str, dict[int, Evidence]]:
    """Return the measured cells of each method by training seed."""
    methods: dict[str, dict[int, Evidence]] = {}
    for member in members:
        if member.is_measured:
            seeds = methods.setdefault(member.cell.method, {})
            seeds[member.cell.settings.seed] = member
    return methods


def _compared(
    leading: dict[int, Evidence], other: dict[int, Evidence], metric: str
) -> list[PairedDifference]:
    """Return the difference on the seeds that both methods have; nothing if there are none."""
    seeds = sorted(leading.keys() & other.keys())
    if not seeds:
        return []
    first = [leading[seed] for seed in seeds]
    second = [other[seed] for seed in seeds]
    comparison = compare(
        [member.evaluation for member in first], [member.evaluation for member in second]
    )
    over_tasks = comparison.paired[metric]
    over_seeds = comparison.seeds[metric].difference
    # The paper publishes no NLL, so only differences in accuracy can be judged.
    published = None
    verdict = None
    first_published = first[0].cell.published
    second_published = second[0].cell.published
    if first_published is not None and second_published is not None and metric == "accuracy":
        published = (first_published.accuracy - second_published.accuracy) / 100
        verdict = _verdict_on_parity(over_tasks, over_seeds)
        if _is_clear(first_published, second_published):
            verdict = _verdict(over_tasks, over_seeds, published)
    difference = PairedDifference(
        group=first[0].cell.group,
        first=first[0].cell.method,
        second=second[0].cell.method,
        seeds=len(seeds),
        over_seeds=over_seeds,
        mean=over_tasks.mean,
        ci95=over_tasks.ci95,
        published=published,
        verdict=verdict,
    )
    return [difference]


def _is_clear(first: Published, second: Published) -> bool:
    """Return whether two published accuracies differ by more than their intervals allow."""
    return abs(first.accuracy - second.accuracy) / 100 > np.hypot(first.ci95, second.ci95) / 100


def _verdict_on_parity(over_tasks: Estimate, over_seeds: WelchDifference | None) -> str:
    """Judge our difference where the paper has no clear one: a clear one here is a disagreement."""
    if not over_tasks.excludes_zero:
        return "as in the paper: no clear difference"
    if over_seeds is None:
        return "disagreement for these models: no clear difference in the paper"
    if not over_seeds.excludes_zero:
        return "no clear difference in the paper, nor over seeds here"
    return "disagreement: no clear difference in the paper"


def _verdict(over_tasks: Estimate, over_seeds: WelchDifference | None, published: float) -> str:
    """Judge our difference against the published one.

    The interval over tasks speaks of these models, that over training seeds of the methods.
    """
    if not over_tasks.excludes_zero:
        return "miss: no clear difference here"
    agrees = over_tasks.mean * published > 0
    if over_seeds is not None and not over_seeds.excludes_zero:
        if agrees:
            return "as in the paper, but not clear over seeds"
        return "miss: no clear difference over seeds here"
    if not agrees:
        return "miss: the other way round"
    if over_seeds is None:
        return "as in the paper, for these models"
    return "as in the paper"
