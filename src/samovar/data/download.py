"""Downloading official files: resumed where it stopped, and checked before it is trusted."""

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
"""Bytes that are read at once."""


def download(file: Download, folder: Path, hint: str, progress: Progress) -> Path:
    """Download a file into a folder, and go on with what an earlier attempt left (`.part`).

    `hint` tells the user what to do by hand if the download fails.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # A second process waits here, and then finds the file complete.
        with FileLock(folder / f".{file.name}.lock"):
            return _download_once(file, folder / file.name, progress)
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        raise DataError(
            f"Could not download {file.url} ({error}). What was received so far is kept. "
            f"Try again, or get the file by other means and give its folder with --root. {hint}"
        ) from error


def _download_once(file: Download, target: Path, progress: Progress) -> Path:
    if target.exists() and md5(target) == file.md5:
        return target
    part = target.with_name(f"{target.name}.part")
    _fetch(file.url, part, progress)
    if md5(part) != file.md5:
        part.unlink()  # so that the next attempt does not resume it
        raise DataError(
            f"{file.url} does not have the expected checksum, so the downloaded file was removed. "
            "Try again, or use --root."
        )
    return part.rename(target)


def md5(path: Path) -> str:
    """Return the MD5 of a file, the checksum that the official pages give."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _fetch(url: str, part: Path, progress: Progress) -> None:
    """Fetch the bytes that the partial file does not have yet."""
    received = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url)
    if received:
        request.add_header("Range", f"bytes={received}-")
    try:
        response = urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as error:
        # 416: nothing is left to send. The part is complete, or the checksum will refuse it.
        if error.code == 416 and received:
            return
        raise
    with response:
        if response.status == 206:
            _receive(response, part, received, progress)
        else:
            # Everything is sent: no range was asked for, or the server ignored it.
            part.unlink(missing_ok=True)
            _receive(response, part, 0, progress)


def _receive(
    response: http.client.HTTPResponse, part: Path, received: int, progress: Progress
) -> None:
    """Append the response to the partial file, which has `received` bytes already."""
    total = received + int(response.headers.get("Content-Length") or 0)
    with part.open("ab") as file:
        while chunk := response.read(CHUNK):
            file.write(chunk)
            received += len(chunk)
            share = received / total if total else 0.0
            progress(part.stem, min(1.0, share))
    # A connection that breaks off ends the loop above without an error.
    if received < total:
        raise http.client.IncompleteRead(b"", total - received)
