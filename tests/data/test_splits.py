"""Published splits have their sizes, and bad split files are refused."""

import pytest
from helpers_sources import make_folder

from samovar.data.preparation import prepare
from samovar.data.splits import published
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ("[1]", "must be JSON"),
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
        name: [len(published(name)[part]) for part in ("train", "val", "test")]
        for name in ("miniimagenet", "cifar_fs", "fc100", "omniglot_vinyals")
    }
    assert sizes == {
        "miniimagenet": [64, 16, 20],
        "cifar_fs": [64, 16, 20],
        "fc100": [60, 20, 20],
        "omniglot_vinyals": [1028, 172, 423],
    }
    for name in sizes:
        everything = [each for part in published(name).values() for each in part]
        assert len(set(everything)) == len(everything)
