"""The npz file that `samovar embed` writes, and `samovar train features` reads.

It has the arrays `features` (n, length), `labels` (n), `paths` (n), and `encoder`: JSON that says
which encoder made the vectors, from which inputs, and which images were skipped. Where the images
are divided into train, val and test, the array `split` (n) says how.
"""

import io
import json
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from samovar.core.files import whole_file
from samovar.core.stored_json import parse_json
from samovar.data.npz import read_npz
from samovar.encoders.image_list import ListedImage
from samovar.errors import DataError, OutputError, UnreadableError
from samovar.settings.checked import checked

Precision = Literal["float32", "float16"]


@dataclass(frozen=True)
class SkippedImage:
    """An image that cannot be read, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class VectorFileFacts:
    """What a file of vectors says of itself."""

    encoder: dict[str, Any]
    """`Encoder.to_json()`."""
    inputs: str
    """Encoder, precision and a hash of the images: the same inputs give the same file."""
    skipped: tuple[SkippedImage, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form, which has the entries of the encoder at the top."""
        skipped = [asdict(image) for image in self.skipped]
        return self.encoder | {"inputs": self.inputs, "skipped": skipped}


@dataclass(frozen=True)
class _StoredFacts:
    """The entries of the JSON form that are not the encoder's."""

    inputs: str
    skipped: tuple[SkippedImage, ...]


def read_facts(path: Path) -> tuple[VectorFileFacts, list[str]] | None:
    """Return what a file of vectors says of itself, and its labels.

    None if there is no such file, or if it is damaged or of another kind.
    """
    try:
        arrays = read_npz(path, ("encoder", "labels"))
        content = parse_json(str(arrays["encoder"]), dict[str, Any])
        stored = checked(_StoredFacts, content)
        labels = checked(list[str], arrays["labels"].tolist())
    except (OSError, KeyError, DataError, UnreadableError):
        return None
    encoder = {}
    for key, value in content.items():
        if key not in ("inputs", "skipped"):
            encoder[key] = value
    return VectorFileFacts(encoder, stored.inputs, stored.skipped), labels


def write_vectors(
    path: Path,
    chunks: Iterable[NDArray[np.float32]],
    images: Sequence[ListedImage],
    facts: VectorFileFacts,
    precision: Precision = "float32",
) -> None:
    """Write the vectors of images, which come in chunks; the file is written whole or not at all.

    One chunk at a time is in memory.
    """
    with whole_file(path) as file, zipfile.ZipFile(file, "w") as archive:
        shape = (len(images), int(facts.encoder["length"]))
        _write_features(archive, chunks, shape, precision)
        _write_array(archive, "labels", np.array([image.label for image in images], "U"))
        _write_array(archive, "paths", np.array([image.name for image in images], "U"))
        if any(image.split for image in images):
            _write_array(archive, "split", np.array([image.split for image in images], "U"))
        _write_array(archive, "encoder", np.array(json.dumps(facts.to_json())))


def _write_features(
    archive: zipfile.ZipFile,
    chunks: Iterable[NDArray[np.float32]],
    shape: tuple[int, int],
    precision: Precision,
) -> None:
    dtype = np.dtype(precision)
    header = {
        "descr": npy_format.dtype_to_descr(dtype),
        "fortran_order": False,
        "shape": shape,
    }
    # An entry that is made so has no time: the same vectors are the same file.
    with archive.open(zipfile.ZipInfo("features.npy"), "w", force_zip64=True) as entry:
        npy_format.write_array_header_1_0(entry, header)
        for chunk in chunks:
            with np.errstate(over="ignore"):
                features = chunk.astype(dtype)
            if not np.isfinite(features).all():
                raise OutputError(
                    "Some of the vectors have numbers too large for float16. Use float32."
                )
            entry.write(features.tobytes())


def _write_array(archive: zipfile.ZipFile, name: str, array: NDArray[Any]) -> None:
    buffer = io.BytesIO()
    npy_format.write_array(buffer, array, allow_pickle=False)
    archive.writestr(zipfile.ZipInfo(f"{name}.npy"), buffer.getvalue())
