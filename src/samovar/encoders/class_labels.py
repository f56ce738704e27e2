"""Labels and splits from the names of folders.

The rule is the same for folders, zip archives and lists: the folders that all images share are
left aside, and the first folder after them is the class. Folders inside a class folder do not
matter, except that classes may lie in train/, val/ and test/.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath

from samovar.data.store import SPLITS


def class_labels(names: Sequence[str]) -> list[str]:
    """Return the class of each image by its path; empty texts if all are in the same folder.

    >>> class_labels(["photos/cat/1.jpg", "photos/cat/indoors/2.jpg", "photos/dog/3.jpg"])
    ['cat', 'cat', 'dog']
    >>> class_labels(["photos/train/cat/1.jpg", "photos/test/dog/2.jpg"])
    ['cat', 'dog']
    >>> class_labels(["photos/1.jpg", "photos/2.jpg"])
    ['', '']

    Images beside several class folders have an empty text as well.
    """
    folders = [_folders(name) for name in names]
    depth = len(shared_folders(names))
    if _has_splits(folders, depth):
        depth += 1
    labels = []
    for parts in folders:
        labels.append(parts[depth] if len(parts) > depth else "")
    if "" in labels and len(set(labels)) == 2:
        # Images in a folder and in one folder inside it: that makes no two classes.
        return [""] * len(labels)
    return labels


def shared_folders(names: Sequence[str]) -> tuple[str, ...]:
    """Return the folders that all images lie in.

    >>> shared_folders(["a/b/c/1.jpg", "a/b/2.jpg"])
    ('a', 'b')
    """
    folders = [_folders(name) for name in names]
    if not folders:
        return ()
    first = min(folders)
    last = max(folders)  # in alphabetical order: what these two share, all share
    shared = 0
    while shared < min(len(first), len(last)) and first[shared] == last[shared]:
        shared += 1
    return first[:shared]


def splits_of(names: Sequence[str], labels: Sequence[str]) -> list[str]:
    """Return the split of each image, or empty texts where the folders make no few-shot split.

    A class that is in two of them (as is the custom where all classes are known in training)
    belongs to no split: then there are none.

    >>> splits_of(["train/cat/1.jpg", "test/dog/2.jpg"], ["cat", "dog"])
    ['train', 'test']
    """
    none = [""] * len(names)
    folders = [_folders(name) for name in names]
    depth = len(shared_folders(names))
    if not _has_splits(folders, depth):
        return none
    splits = [parts[depth] for parts in folders]
    if len(set(splits)) < 2:
        return none
    split_of: dict[str, str] = {}
    for label, split in zip(labels, splits, strict=True):
        if split_of.setdefault(label, split) != split:
            return none
    return splits


def _folders(name: str) -> tuple[str, ...]:
    return PurePosixPath(name.replace("\\", "/")).parent.parts


def _has_splits(folders: Sequence[tuple[str, ...]], depth: int) -> bool:
    """Return whether the folders at this depth are train/, val/ and test/, with folders inside."""
    if any(len(parts) < depth + 2 for parts in folders):
        return False
    names = {parts[depth] for parts in folders}
    return "train" in names and names <= set(SPLITS)
