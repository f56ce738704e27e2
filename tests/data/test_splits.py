"""Published splits have their sizes, and bad split files are refused."""

import pytest
from helpers_sources import make_folder
from hypothesis import given
from hypothesis import strategies as st

from samovar.data.preparation import prepare
from samovar.data.splits import by_count, by_fraction, class_names, published
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ("[1]", "must be a table, but is a list"),
        ('{"train": [1]}', "must be text"),
        ('{"valid": ["a"]}', "cannot be 'valid'"),
        ('{"train": ["nobody"]}', "lists 'nobody'"),
    ],
)
def test_bad_split_files(tmp_path, content, words):
    root = make_folder(tmp_path / "x", ["a", "b", "c"])
    (tmp_path / "split.json").write_text(content)
    with pytest.raises(DataError, match=words):
        prepare("folder", root, PrepareSettings(split_file=tmp_path / "split.json"))


def test_published_lists():
    sizes = {
        name: [len(published(name)[split]) for split in ("train", "val", "test")]
        for name in ("miniimagenet", "cifar_fs", "fc100", "omniglot_vinyals")
    }
    assert sizes == {
        "miniimagenet": [64, 16, 20],
        "cifar_fs": [64, 16, 20],
        "fc100": [60, 20, 20],
        "omniglot_vinyals": [1028, 172, 423],
    }
    for name in sizes:
        assert len(class_names(published(name))) == sum(sizes[name]), "no class is in two splits"


@given(st.integers(0, 40), st.integers(0, 12), st.integers(0, 12), st.integers(0, 10**6))
def test_a_random_split_is_a_repeatable_partition(classes, train, val, seed):
    names = [f"class {number:02d}" for number in range(classes)]
    split = by_count(names, train, val, seed, "test")
    assert sorted(split["train"] + split["val"] + split["test"]) == names
    assert len(split["train"]) == min(train, classes)
    assert len(split["val"]) == min(val, classes - len(split["train"]))
    assert split == by_count(names, train, val, seed, "test")


def test_fractions_need_not_sum_to_one_but_must_be_numbers():
    names = [str(number) for number in range(10)]
    assert by_fraction(names, (6, 2, 2), 0) == by_fraction(names, (0.6, 0.2, 0.2), 0)
    for bad in ((0, 0, 0), (-1, 1, 1), (float("nan"), 1, 1), (float("inf"), 1, 1)):
        with pytest.raises(DataError, match="fractions of train, val and test must be finite"):
            by_fraction(names, bad, 0)
