"""Where the real archives are, and small stores for the rest."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from samovar.data.dataset import Dataset
from samovar.data.store import ClassEntry, Contents, Store, write_store

# New examples on developers' machines; the same ones every time where a change is judged.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

ARCHIVES = Path(os.environ.get("SAMOVAR_DATA_ARCHIVES", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(autouse=True)
def data_folder(tmp_path_factory, monkeypatch) -> Path:
    """No test touches the user's data."""
    folder = tmp_path_factory.mktemp("data")
    monkeypatch.setenv("SAMOVAR_DATA", str(folder))
    return folder


@pytest.fixture(scope="session")
def archives() -> Callable[[str], Path]:
    """The path of a real archive, or a skip that says what is missing."""

    def locate(name: str) -> Path:
        path = ARCHIVES / name
        if not path.exists():
            pytest.skip(f"the real data {name} is not in {ARCHIVES} (set SAMOVAR_DATA_ARCHIVES)")
        return path

    return locate


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


@pytest.fixture(scope="session")
def toy(tmp_path_factory) -> Dataset:
    """Eleven classes of 7 to 27 images."""
    return Dataset(make_store(tmp_path_factory.mktemp("toy"), [7 + 2 * i for i in range(11)]))
