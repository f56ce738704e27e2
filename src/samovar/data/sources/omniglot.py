"""Omniglot, from its two official zips: 1623 characters of 50 alphabets, 20 drawings each."""

from collections import defaultdict
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from samovar.data.archive import Zip, find
from samovar.data.images.conversion import Conversion
from samovar.data.images.decode import decode_all
from samovar.data.sources.base import Download, Source, missing
from samovar.data.splits import by_count, class_names, published, restricted
from samovar.data.store import ClassEntry, Contents
from samovar.errors import DataError
from samovar.settings.data import PrepareSettings

ADDRESS = "https://raw.githubusercontent.com/brendenlake/omniglot/master/python"
DOWNLOADS = (
    Download(f"{ADDRESS}/images_background.zip", "68d2efa1b9178cc56df9314c21c6e718"),
    Download(f"{ADDRESS}/images_evaluation.zip", "6b91aef0f799c5bb55b94e3f2daec811"),
)
HINT = (
    "Put images_background.zip and images_evaluation.zip there "
    "(python/ in Brenden Lake's Omniglot repository)."
)
# Ink is 1 after division by 255, as in VERSA.
CONVERSION = Conversion(28, "grey", "lanczos", inverted=True)

Drawings = dict[str, list[tuple[Zip, str]]]
"""The archive and the entry of each drawing, by character (alphabet/character)."""


def _archives(root: Path) -> list[Zip]:
    archives = []
    for download in DOWNLOADS:
        path = find(root, download.name)
        if path is None:
            raise missing(root, f"{download.name} is not there. {HINT}")
        archives.append(Zip(path))
    return archives


def _drawings(archives: list[Zip]) -> Drawings:
    drawings: Drawings = defaultdict(list)
    for archive in archives:
        for name in sorted(archive.entries):
            folders = PurePosixPath(name).parts[:-1]
            # images_background/ALPHABET/CHARACTER/DRAWING.png
            if name.endswith(".png") and len(folders) >= 2:
                drawings["/".join(folders[-2:])].append((archive, name))
    return drawings


def _open(root: Path, settings: PrepareSettings) -> Contents:
    del settings  # the splitting scheme and rotations are chosen when the store is used
    archives = _archives(root)
    drawings = _drawings(archives)
    names = sorted(drawings)
    vinyals = published("omniglot_vinyals")
    unknown = sorted(drawings.keys() - class_names(vinyals))
    if unknown:
        raise DataError(
            f"{archives[0].path} has {unknown[0]!r}, which is not a character of Omniglot. {HINT}"
        )

    def read(position: int) -> NDArray[np.uint8]:
        files = ((name, archive.read(name)) for archive, name in drawings[names[position]])
        return decode_all(files, CONVERSION)

    return Contents(
        [ClassEntry(name, len(drawings[name]), name.split("/")[0]) for name in names],
        CONVERSION.shape,
        read,
        {
            "vinyals": restricted(vinyals, set(names)),
            # VERSA's own shuffle depends on a directory listing and cannot be repeated.
            "versa": by_count(names, 1100, 100, seed=111, purpose="omniglot versa"),
        },
        files=[archive.path for archive in archives],
        official_images=32_460,
    )


OMNIGLOT = Source(
    "omniglot",
    "Omniglot: 1623 handwritten characters, 20 drawings each",
    "MIT (Brenden Lake)",
    "B. Lake, R. Salakhutdinov, J. Tenenbaum. Human-level concept learning through probabilistic "
    "program induction. Science 2015. Split: O. Vinyals et al. Matching networks for one shot "
    "learning. NeurIPS 2016.",
    _open,
    HINT,
    DOWNLOADS,
    inverted=CONVERSION.inverted,
    resampling=CONVERSION.resampling,
)
