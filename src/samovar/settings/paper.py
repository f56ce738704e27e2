"""What the paper publishes: its figures, as data."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Published:
    """A figure of the paper, in percent."""

    table: str
    accuracy: float
    ci95: float


Shot = Literal[1, 5]


Method = Literal["samovar", "tadam"]


Rival = Literal["samovar", "separate", "versa", "prototypes"]


Benchmark = Literal["miniimagenet", "cifar_fs", "fc100"]


RIVALS: tuple[Rival, ...] = ("samovar", "separate", "versa", "prototypes")


SHOTS: tuple[Shot, Shot] = (5, 1)


PUBLISHED_TABLE_1 = {"versa": (68.0, 52.5), "samovar": (69.8, 52.4), "separate": (66.6, 50.8)}


TABLE_2_COLUMNS: tuple[tuple[Shot, Method, float], ...] = (
    (5, "tadam", 0.2),
    (5, "samovar", 0.2),
    (1, "tadam", 0.3),
    (1, "samovar", 0.3),
)


PUBLISHED_TABLE_2 = {  # alpha, AT, TEN: TADAM 5-shot, SAMOVAR 5-shot, TADAM 1-shot, SAMOVAR 1-shot
    (False, False, False): (73.5, 75.3, 58.2, 59.3),
    (True, False, False): (74.9, 76.9, 57.4, 58.2),
    (False, True, False): (74.6, 76.4, 58.7, 59.8),
    (False, False, True): (72.9, 74.9, 58.2, 58.8),
    (True, True, False): (75.7, 77.2, 57.3, 60.4),
    (False, True, True): (74.1, 77.3, 57.5, 59.5),
    (True, False, True): (74.9, 76.8, 57.3, 58.5),
    (True, True, True): (75.9, 77.5, 57.6, 60.7),
}


PUBLISHED_AUGMENTED: dict[
    Benchmark, tuple[str, float, float, float, float]
] = {  # data: table, 5-shot, 1-shot, their intervals
    "miniimagenet": ("3", 79.5, 63.3, 0.2, 0.3),
    "fc100": ("4", 57.9, 42.1, 0.3, 0.3),
    "cifar_fs": ("5", 85.3, 72.5, 0.2, 0.3),
}
