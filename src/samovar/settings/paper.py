"""The numbers that the paper publishes, as data, and the names of what it compares.

Accuracies are in percent with the half-width of their 95 % interval, as printed in the paper.
Presets carry them to `samovar presets`, and `samovar reproduce` prints ours beside them. VERSA's
accuracies on Omniglot come from VERSA's own paper.
"""

from dataclasses import dataclass
from typing import Literal

Shot = Literal[1, 5]
Method = Literal["samovar", "tadam"]
"""The two columns of Table 2."""
Rival = Literal["samovar", "separate", "versa", "prototypes"]
"""The rows of Table 1, and Prototypical Networks, which we measure beside them."""
Benchmark = Literal["miniimagenet", "cifar_fs", "fc100"]

SHOTS: tuple[Shot, Shot] = (5, 1)
"""In the order of the paper's columns."""
RIVALS: tuple[Rival, ...] = ("samovar", "separate", "versa", "prototypes")


@dataclass(frozen=True)
class Published:
    """A published accuracy, in percent."""

    table: str
    accuracy: float
    ci95: float


@dataclass(frozen=True)
class PublishedPair:
    """The published accuracies of one model on 5-shot and on 1-shot tasks."""

    five_shot: Published
    one_shot: Published

    def at(self, shot: Shot) -> Published:
        """Return the accuracy on tasks of this shot."""
        if shot == 5:
            return self.five_shot
        return self.one_shot


@dataclass(frozen=True)
class Ablation:
    """Which of the three additions of Table 2 a model has."""

    scaled: bool = False
    """SC, the scaled cosine classifier (for TADAM: the scaled distance)."""
    auxiliary: bool = False
    """AT, auxiliary co-training."""
    embedding: bool = False
    """TEN, the task embedding network."""

    @property
    def parts(self) -> list[str]:
        """The short names of the additions that are switched on, in the paper's order."""
        names = []
        if self.scaled:
            names.append("sc")
        if self.auxiliary:
            names.append("at")
        if self.embedding:
            names.append("ten")
        return names


FULL = Ablation(scaled=True, auxiliary=True, embedding=True)
"""SC-AT-TEN, the paper's full model."""


@dataclass(frozen=True)
class Table2Row:
    """A row of Table 2: the same additions for TADAM and for SAMOVAR."""

    ablation: Ablation
    tadam: PublishedPair
    samovar: PublishedPair

    def published(self, method: Method, shot: Shot) -> Published:
        """Return the accuracy in the column of this method and shot."""
        if method == "tadam":
            return self.tadam.at(shot)
        return self.samovar.at(shot)


@dataclass(frozen=True)
class Table2Column:
    """A column of Table 2."""

    method: Method
    shot: Shot


@dataclass(frozen=True)
class BetaClaim:
    """The claim that accuracy stays within `points` of the best from `low` to `high`.

    `low` and `high` are multiples of the best beta.
    """

    low: float
    high: float
    points: float


@dataclass(frozen=True)
class OmniglotAccuracy:
    """An accuracy on Omniglot as VERSA reports it, in percent."""

    way: int
    shot: int
    accuracy: float
    confirmed: bool
    """Whether we found the number in the source itself."""


def _table1(five_shot: float, one_shot: float) -> PublishedPair:
    return PublishedPair(Published("1", five_shot, 0.2), Published("1", one_shot, 0.3))


def _table2(five_shot: float, one_shot: float) -> PublishedPair:
    return PublishedPair(Published("2", five_shot, 0.2), Published("2", one_shot, 0.3))


TABLE_1: dict[Rival, PublishedPair] = {
    "versa": _table1(five_shot=68.0, one_shot=52.5),
    "samovar": _table1(five_shot=69.8, one_shot=52.4),
    "separate": _table1(five_shot=66.6, one_shot=50.8),
}

TABLE_2_COLUMNS = (
    Table2Column("tadam", 5),
    Table2Column("samovar", 5),
    Table2Column("tadam", 1),
    Table2Column("samovar", 1),
)

TABLE_2 = (
    Table2Row(Ablation(), tadam=_table2(73.5, 58.2), samovar=_table2(75.3, 59.3)),
    Table2Row(Ablation(scaled=True), tadam=_table2(74.9, 57.4), samovar=_table2(76.9, 58.2)),
    Table2Row(Ablation(auxiliary=True), tadam=_table2(74.6, 58.7), samovar=_table2(76.4, 59.8)),
    Table2Row(Ablation(embedding=True), tadam=_table2(72.9, 58.2), samovar=_table2(74.9, 58.8)),
    Table2Row(
        Ablation(scaled=True, auxiliary=True),
        tadam=_table2(75.7, 57.3),
        samovar=_table2(77.2, 60.4),
    ),
    Table2Row(
        Ablation(auxiliary=True, embedding=True),
        tadam=_table2(74.1, 57.5),
        samovar=_table2(77.3, 59.5),
    ),
    Table2Row(
        Ablation(scaled=True, embedding=True),
        tadam=_table2(74.9, 57.3),
        samovar=_table2(76.8, 58.5),
    ),
    Table2Row(FULL, tadam=_table2(75.9, 57.6), samovar=_table2(77.5, 60.7)),
)

AUGMENTED: dict[Benchmark, PublishedPair] = {
    "miniimagenet": PublishedPair(Published("3", 79.5, 0.2), Published("3", 63.3, 0.3)),
    "fc100": PublishedPair(Published("4", 57.9, 0.3), Published("4", 42.1, 0.3)),
    "cifar_fs": PublishedPair(Published("5", 85.3, 0.2), Published("5", 72.5, 0.3)),
}
"""SAMOVAR-SC-AT-TEN with data augmentation: the last rows of Tables 3, 4 and 5."""

SAMPLING_GAIN: dict[int, float] = {5: 0.1, 1: 0.4}
"""By shot: points of accuracy that averaging 10,000 sampled classifiers of SC-AT-TEN gains.

The gain is over the classifier at the mean.
"""

COLLAPSE_VARIANCE = 0.001
"""The level below which appendix D calls the largest weight variance collapsed."""
COLLAPSE_STEP: dict[int, int] = {5: 4000, 1: 3000}
"""By shot: the step at which VERSA's largest weight variance first falls below that level."""

BETA_CLAIMS: dict[int, BetaClaim] = {
    5: BetaClaim(low=0.83, high=2.0, points=1.0),
    1: BetaClaim(low=0.66, high=2.0, points=1.0),
}
"""What the paper's figure on beta claims, by shot."""

VERSA_OMNIGLOT = (
    OmniglotAccuracy(way=5, shot=1, accuracy=99.70, confirmed=False),
    OmniglotAccuracy(way=5, shot=5, accuracy=99.75, confirmed=False),
    OmniglotAccuracy(way=20, shot=1, accuracy=97.66, confirmed=False),
    OmniglotAccuracy(way=20, shot=5, accuracy=98.77, confirmed=True),
)
"""With transductive batch norm, and a model trained for each shape."""
