"""Omniglot is read from its two archives, with bright ink and both splits."""

from helpers_sources import make_omniglot

from samovar.data.preparation import prepare


def test_omniglot(tmp_path):
    store = prepare("omniglot", make_omniglot(tmp_path))
    assert [entry.name for entry in store.classes] == [
        f"{a}/character0{c}" for a in ("Arcadian", "Tengwar") for c in (1, 2)
    ]
    assert store.classes[0].group == "Arcadian"
    assert store.array.shape == (12, 28, 28, 1)
    assert store.array[0].min() == 255, "black ink is bright"
    assert store.array[1].max() == 0, "white paper is dark"
    assert {split: len(store.split(split)) for split in ("train", "val", "test")} == {
        "train": 2,
        "val": 0,
        "test": 2,
    }
    assert sum(len(store.split(split, "versa")) for split in ("train", "val", "test")) == 4


def test_real_omniglot(archives):
    store = prepare("omniglot", archives("omniglot"))
    assert store.array.shape == (32_460, 28, 28, 1)
    assert store.partial is None
    assert {entry.count for entry in store.classes} == {20}
    assert len({entry.group for entry in store.classes}) == 50
    assert [len(store.split(split)) for split in ("train", "val", "test")] == [1028, 172, 423]
    assert [len(store.split(split, "versa")) for split in ("train", "val", "test")] == [
        1100,
        100,
        423,
    ]
    assert 10 < store.array[:2000].mean() < 40, "thin bright ink on black"
