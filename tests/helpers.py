"""Small stores, untrained models and stored evaluations that tests of several rooms use."""

import json
from pathlib import Path

import numpy as np

from samovar import SavedModel
from samovar.data.images.conversion import Conversion
from samovar.data.normalization import Normalization
from samovar.data.store import ClassEntry, Contents, Store
from samovar.data.store_writer import write_store
from samovar.models.few_shot_model import FewShotModel
from samovar.prediction.calibration import Calibration, ShapeLaw
from samovar.settings.model import ModelSettings


def make_store(
    folder: Path,
    counts: list[int],
    shape: tuple[int, ...] = (6, 6, 3),
    split: dict | None = None,
    name: str = "toy",
    source_name: str = "toy",
) -> Store:
    """A store whose image i has all values i modulo 251: images tell their index."""
    first = np.concatenate([[0], np.cumsum(counts)])
    names = [f"class {i}" for i in range(len(counts))]

    def read(position: int) -> np.ndarray:
        values = np.arange(first[position], first[position + 1]) % 251
        return np.broadcast_to(values.reshape(-1, *(1,) * len(shape)), (counts[position], *shape))

    contents = Contents(
        [ClassEntry(name, count) for name, count in zip(names, counts, strict=True)],
        shape,
        read,
        {"all": split or {"train": names, "val": [], "test": []}},
    )
    facts = {"source_name": source_name, "title": "toy", "licence": "none", "citation": "none"}
    return write_store(name, facts, contents, folder)


def length_of_new_store(folder: str) -> int:
    """Importable by a process that was spawned."""
    return len(make_store(Path(folder), [50] * 20).array)


PEAK = """
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
"""
"""For scripts: the most memory of this process in kilobytes (that of getrusage begins with the
parent's).
"""


def features_model(width: int, **settings) -> SavedModel:
    """An untrained model of ready-made features; prototypes separate even so."""
    chosen = {"method": "prototypes", "classifier": "squared", "alpha": 1.0} | settings
    model = FewShotModel(ModelSettings(backbone="identity", size=width, **chosen))
    return SavedModel(model.eval(), Normalization((0.0,) * width, (1.0,) * width, 1.0))


def image_model(**settings) -> SavedModel:
    chosen = {"size": 12, "width": 4} | settings
    conversion = Conversion(12, "grey" if chosen.get("channels") == 1 else "rgb")
    channels = chosen.get("channels", 3)
    normalisation = Normalization((0.5,) * channels, (0.25,) * channels)
    return SavedModel(FewShotModel(ModelSettings(**chosen)).eval(), normalisation, {}, conversion)


def blobs(seed: int = 0, classes: int = 4, each: int = 6, width: int = 5):
    noise = np.random.default_rng(seed)
    labels = np.repeat(np.arange(classes), each)
    return noise.normal(size=(classes, width))[labels] * 3 + noise.normal(
        size=(len(labels), width)
    ), labels


RNG = np.random.default_rng(0)


def keep_evaluation(folder, accuracy, shot=1, data="toy", predictor="predictive"):
    """An evaluation folder as `samovar evaluate` writes it, with these accuracies of tasks."""
    folder.mkdir(parents=True, exist_ok=True)
    bins = RNG.random((len(accuracy), 15, 3))
    bins[..., 0] = 5
    arrays = {"accuracy": accuracy, "nll": 1 - accuracy, "brier": 2 - accuracy, "bins": bins}
    protocol = {"way": 5, "shot": shot, "text": f"5-way {shot}-shot"}
    summary = {"protocol": protocol, "data": data, "data_checksum": data, "episodes": len(accuracy)}
    (folder / "evaluation.json").write_text(json.dumps(summary))
    np.savez(
        folder / "evaluation.npz",
        **{f"{predictor}_{name}": value for name, value in arrays.items()},
    )
    return folder


def noisy_store(folder: Path) -> Store:
    """Eight classes, each a pattern of its own under noise."""

    def read(position: int) -> np.ndarray:
        noise = np.random.default_rng(position)
        pattern = noise.integers(0, 256, (12, 12, 3))
        return np.clip(pattern + noise.normal(0, 60, (40, 12, 12, 3)), 0, 255).astype(np.uint8)

    names = [f"class {i}" for i in range(8)]
    split = {"all": {"train": names, "val": [], "test": []}}
    contents = Contents([ClassEntry(name, 40) for name in names], (12, 12, 3), read, split)
    facts = {"source_name": "toy", "title": "toy", "licence": "none", "citation": "none"}
    return write_store("noisy", facts, contents, folder)


def store_of(folder: Path, pixels: np.ndarray, name: str = "own", source: str = "folder") -> Store:
    """A store of these images (classes, images, H, W, C), split evenly, as if from a folder."""
    names = [f"class {position}" for position in range(len(pixels))]
    third = len(names) // 3
    split = {"train": names[: -2 * third], "val": names[-2 * third : -third]}
    split["test"] = names[-third:]
    contents = Contents(
        [ClassEntry(name, pixels.shape[1]) for name in names],
        pixels.shape[2:],
        lambda position: pixels[position],
        {"own": split},
    )
    facts = {"source_name": source, "title": "own", "licence": "yours", "citation": ""}
    return write_store(name, facts, contents, folder)


CALIBRATION = Calibration(
    about="test",
    sigma=ShapeLaw(-0.2, 0.1),
    temperature=ShapeLaw(1.0, -0.5, 0.1, 0.2),
    spread=0.3,
    most_shots=20,
    most_ways=16,
)
