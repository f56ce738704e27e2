"""Downloading official files: resumed where it stopped, checked before it is believed."""

import hashlib
import http.client
import urllib.error
import urllib.request
from pathlib import Path

from filelock import FileLock

from samovar.core.progress import Progress
from samovar.data.sources.base import Download
from samovar.errors import DataError

CHUNK = 2**20


def download(file: Download, folder: Path, hint: str, progress: Progress) -> Path:
    """Fetch a file into a folder; what an earlier attempt left (`.part`) is gone on with."""
    target = folder / file.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(
            folder / f".{file.name}.lock"
        ):  # a second process waits and finds the file there
            return _fetch_once(file, target, progress)
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        raise DataError(
            f"Could not download {file.url} ({error}). What was received is kept; try again, or get the file by other "
            f"means and name its folder with --root. {hint}"
        ) from error


def _fetch_once(file: Download, target: Path, progress: Progress) -> Path:
    if target.exists() and md5(target) == file.md5:
        return target
    part = target.with_name(f"{target.name}.part")
    _fetch(file.url, part, progress)
    if md5(part) != file.md5:
        part.unlink()
        raise DataError(
            f"{file.url} did not have the expected checksum; it was removed. Try again, or use --root."
        )
    return part.rename(target)


def md5(path: Path) -> str:
    """MD5 of a file, the checksum that the official pages give."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _fetch(url: str, part: Path, progress: Progress) -> None:
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        response = urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as error:
        if (
            error.code == 416 and have
        ):  # nothing is left to send: the part is whole, or not what is offered now
            return
        raise
    with response:
        resumed = response.status == 206
        have = have if resumed else 0
        total = have + int(response.headers.get("Content-Length") or 0)
        with part.open("ab" if resumed else "wb") as file:
            while chunk := response.read(CHUNK):
                file.write(chunk)
                have += len(chunk)
                progress(part.stem, min(1.0, have / total) if total else 0.0)
        if have < total:
            raise http.client.IncompleteRead(b"", total - have)
