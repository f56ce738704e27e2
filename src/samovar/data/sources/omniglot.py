"""Omniglot, from its two official zips: 1623 handwritten characters of 50 alphabets, 20 drawings each."""

from collections import defaultdict
from pathlib import Path, PurePosixPath

import numpy as np

from samovar.data.archive import Zip, find
from samovar.data.images.conversion import Conversion
from samovar.data.images.decode import decode_all
from samovar.data.sources.base import Download, Source, missing
from samovar.data.splits import by_count, published
from samovar.data.store import ClassEntry, Contents
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings

ADDRESS = "https://raw.githubusercontent.com/brendenlake/omniglot/master/python"
DOWNLOADS = (
    Download(f"{ADDRESS}/images_background.zip", "68d2efa1b9178cc56df9314c21c6e718"),
    Download(f"{ADDRESS}/images_evaluation.zip", "6b91aef0f799c5bb55b94e3f2daec811"),
)
HINT = "Put images_background.zip and images_evaluation.zip there (python/ in Brenden Lake's Omniglot repository)."
# Ink is 1 after division by 255, as VERSA has it.
CONVERSION = Conversion(28, "grey", "lanczos", inverted=True)


def _open(root: Path, settings: PrepareSettings) -> Contents:
    del settings  # the split scheme and rotations are chosen when the store is used
    archives = []
    for download in DOWNLOADS:
        if (path := find(root, download.name)) is None:
            raise missing(root, f"{download.name} is not there. {HINT}")
        archives.append(Zip(path))
    drawings: dict[str, list[tuple[Zip, str]]] = defaultdict(list)
    for archive in archives:
        for name in sorted(archive.entries):
            parts = PurePosixPath(name).parts
            if name.endswith(".png") and len(parts) >= 3:
                drawings["/".join(parts[-3:-1])].append((archive, name))
    names = sorted(drawings)
    known = published("omniglot_vinyals")
    if unknown := set(names) - {each for part in known.values() for each in part}:
        raise DataError(
            f"{archives[0].path} has {sorted(unknown)[0]!r}, which is not a character of Omniglot. {HINT}"
        )
    present = {
        part: [name for name in listed if name in drawings] for part, listed in known.items()
    }

    def read(position: int) -> np.ndarray:
        files = ((name, archive.read(name)) for archive, name in drawings[names[position]])
        return decode_all(files, CONVERSION)

    return Contents(
        [ClassEntry(name, len(drawings[name]), name.split("/")[0]) for name in names],
        CONVERSION.shape,
        read,
        # VERSA's own shuffle of its characters cannot be repeated (it depends on the order of a directory listing).
        {
            "vinyals": present,
            "versa": by_count(names, 1100, 100, seed=111, purpose="omniglot versa"),
        },
        files=[archive.path for archive in archives],
        official_images=32_460,
    )


OMNIGLOT = Source(
    "omniglot",
    "Omniglot: 1623 handwritten characters, 20 drawings each",
    "MIT (Brenden Lake)",
    "B. Lake, R. Salakhutdinov, J. Tenenbaum. Human-level concept learning through probabilistic program induction. "
    "Science 2015. Split: O. Vinyals et al. Matching networks for one shot learning. NeurIPS 2016.",
    _open,
    HINT,
    DOWNLOADS,
    inverted=True,
)
