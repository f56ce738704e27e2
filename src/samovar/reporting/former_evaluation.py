"""What becomes of an evaluation when another one is written into its folder: it is kept.

An evaluation of the same model by the same protocol on the same data would have the same numbers,
so it may be replaced. Any other is moved into a folder beside the new one.
"""

import re
from pathlib import Path
from typing import Any

from samovar.core.stored_json import parse_json, read_bytes
from samovar.errors import UnreadableError

SUMMARY = "evaluation.json"
FILES = re.compile(
    r"evaluation\.(json|npz)|report\.html|sampling\.json"
    r"|(reliability|rivals|risk_coverage|classes|accuracy|sampling|episode-\d+)\.png"
)
"""The files of an evaluation."""
IDENTIFYING = ("protocol", "model_identity", "data_identity")
"""What says which evaluation a summary is of."""


def keep_former(folder: Path, summary: dict[str, Any]) -> Path | None:
    """Move the files of another evaluation than this one; return where they are now, if any."""
    path = folder / SUMMARY
    if not path.exists() or _is_same(path, summary):
        return None
    return move_evaluation(folder)


def has_evaluation(folder: Path, wanted: dict[str, Any], files: tuple[str, ...]) -> bool:
    """Tell whether a folder has these files and the evaluation of these identifying facts.

    The stored protocol holds itself in words besides.
    """
    former = _read(folder / SUMMARY)
    if former is None or not all((folder / name).exists() for name in files):
        return False
    protocol = former.get("protocol")
    if not isinstance(protocol, dict):
        return False
    names = ("model_identity", "data_identity")
    if any(former.get(name) != wanted[name] for name in names):
        return False
    return all(protocol.get(name) == value for name, value in wanted["protocol"].items())


def _is_same(path: Path, summary: dict[str, Any]) -> bool:
    former = _read(path)
    if former is None:
        return False
    return all(key in former and former[key] == summary[key] for key in IDENTIFYING)


def _read(path: Path) -> dict[str, Any] | None:
    """Return what the summary of an evaluation holds; None if there is none that can be read."""
    try:
        return parse_json(read_bytes(path), dict[str, Any], nan_is_null=True)
    except (OSError, UnreadableError):
        return None


def move_evaluation(folder: Path) -> Path:
    """Move the files of an evaluation into the first free folder earlier-1, earlier-2, ..."""
    number = 1
    while (folder / f"earlier-{number}").exists():
        number += 1
    place = folder / f"earlier-{number}"
    place.mkdir()
    for path in sorted(folder.iterdir()):
        if path.is_file() and FILES.fullmatch(path.name):
            path.rename(place / path.name)
    return place
