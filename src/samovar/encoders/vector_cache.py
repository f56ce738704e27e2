"""Vectors of images that were encoded before, kept on the disk.

An entry is found by the encoder's identity and the hash of the image file's bytes, so that the
same photograph is encoded once, wherever it lies and whatever it is called. The entries are rows
of an SQLite file, which several processes may use at once. The cache may only save time: an entry
that is damaged is ignored, a file that is no database is replaced, and where nothing can be
written, or another process does not let go of the file, nothing is cached. `notice` then says why.
"""

import contextlib
import hashlib
import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Result = TypeVar("Result")

LIMIT = 10**9
"""Bytes of vectors that are kept unless the user says otherwise."""
PENDING = 256
"""Vectors that are collected in memory before they are written in one transaction."""
PATIENCE = 10.0
"""Seconds to wait for another process that is writing; after that the cache is given up."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    encoder TEXT NOT NULL,
    image TEXT NOT NULL,
    vector BLOB NOT NULL,
    checksum BLOB NOT NULL,
    UNIQUE (encoder, image)
)
"""


def cache_folder() -> Path:
    """Return where caches live: `$SAMOVAR_CACHE`, or a folder in the user's cache."""
    chosen = os.environ.get("SAMOVAR_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(home).expanduser() / "samovar" / "cache"


class VectorCache:
    """A cache of vectors, for use by several threads and processes. Close it when done.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, VectorCache(Path(folder)) as cache:
    ...     cache.put("an encoder", "an image", np.ones(2, np.float32))
    ...     cache.get("an encoder", "an image", 2)
    array([1., 1.], dtype=float32)
    """

    def __init__(
        self, folder: Path | None = None, limit: int = LIMIT, patience: float = PATIENCE
    ) -> None:
        self.limit = limit
        self.patience = patience
        self.hits = 0
        """Vectors that were found since the cache was opened."""
        self.notice: str | None = None
        """What the user should know: that the cache is not used, or was damaged, and why."""
        self._lock = threading.RLock()
        self._pending: dict[tuple[str, str], NDArray[np.float32]] = {}
        self._database: sqlite3.Connection | None = None
        self.path = Path("vectors.sqlite")
        try:
            self.path = (folder or cache_folder()) / self.path
            self._open()
        # Nothing can be written there, or there is no home folder (a RuntimeError).
        except (OSError, RuntimeError, sqlite3.OperationalError) as error:
            self._give_up(error)
        except sqlite3.DatabaseError:  # the file is damaged
            self._replace()

    def __enter__(self) -> "VectorCache":
        """Return the cache itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Write what is pending, and close the file."""
        self.close()

    def get(self, encoder: str, image: str, length: int) -> NDArray[np.float32] | None:
        """Return the vector of an image file by the hash of its bytes; None if it is not known."""
        with self._lock:
            vector = self._pending.get((encoder, image))
            if vector is None:
                row = self._attempt(lambda database: _row(database, encoder, image))
                vector = _sound(row, length)
            if vector is not None:
                self.hits += 1
            return vector

    def put(self, encoder: str, image: str, vector: NDArray[np.float32]) -> None:
        """Keep the vector of an image file. It is written with others, a few at a time."""
        with self._lock:
            self._pending[encoder, image] = np.array(vector, dtype=np.float32)
            if len(self._pending) >= PENDING:
                self.flush()

    def flush(self) -> None:
        """Write what is pending, and remove the oldest vectors where there are too many."""
        with self._lock:
            pending = dict(self._pending)
            self._pending.clear()
            if pending:
                self._attempt(lambda database: _write(database, pending, self.limit))

    def close(self) -> None:
        """Write what is pending, and close the file."""
        with self._lock:
            self.flush()
            self._close()

    @property
    def used(self) -> int:
        """Bytes of the vectors that are written."""
        with self._lock:
            return self._attempt(_used) or 0

    def _open(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(self.path, timeout=self.patience, check_same_thread=False)
        # A power cut may damage the file. It is only a cache, and damage is noticed.
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute(SCHEMA)
        self._database.commit()

    def _attempt(self, work: Callable[[sqlite3.Connection], Result]) -> Result | None:
        """Do something with the database; return None if that is not possible."""
        if self._database is None:
            return None
        try:
            return work(self._database)
        except sqlite3.OperationalError as error:  # busy too long, a full disk, no right to write
            self._give_up(error)
        except sqlite3.DatabaseError:  # the file is damaged
            self._replace()
        return None

    def _give_up(self, error: Exception) -> None:
        """Go on without the cache: a second attempt would only cost time again."""
        self._close()
        self.notice = (
            f"The cache of vectors {self.path} cannot be used ({error}). The images are encoded "
            "without it."
        )

    def _close(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            if self._database is not None:
                self._database.close()
        self._database = None

    def _replace(self) -> None:
        """Remove a file that is no sound database, and start anew."""
        self._close()
        try:
            self.path.unlink(missing_ok=True)
            self._open()
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)
        else:
            self.notice = f"The cache of vectors {self.path} was damaged and has been started anew."


def _checksum(encoder: str, image: str, content: bytes) -> bytes:
    key = f"{encoder} {image} ".encode()
    return hashlib.blake2b(key + content, digest_size=16).digest()


def _row(database: sqlite3.Connection, encoder: str, image: str) -> tuple[bytes, bool] | None:
    """Return the bytes of an entry and whether they are those that were written."""
    query = "SELECT vector, checksum FROM vectors WHERE encoder = ? AND image = ?"
    row = database.execute(query, (encoder, image)).fetchone()
    if row is None or not isinstance(row[0], bytes):
        return None
    return row[0], row[1] == _checksum(encoder, image, row[0])


def _sound(row: tuple[bytes, bool] | None, length: int) -> NDArray[np.float32] | None:
    """Return the vector of an entry, unless it is damaged."""
    if row is None:
        return None
    content, whole = row
    if not whole or len(content) != 4 * length:
        return None
    vector = np.frombuffer(content, "<f4").astype(np.float32)
    return vector if np.isfinite(vector).all() else None


def _write(
    database: sqlite3.Connection, pending: dict[tuple[str, str], NDArray[np.float32]], limit: int
) -> None:
    rows = []
    for (encoder, image), vector in pending.items():
        content = vector.astype("<f4").tobytes()
        rows.append((encoder, image, content, _checksum(encoder, image, content)))
    statement = "INSERT OR REPLACE INTO vectors (encoder, image, vector, checksum) VALUES (?,?,?,?)"
    with database:
        database.executemany(statement, rows)
        _remove_oldest(database, limit)


def _used(database: sqlite3.Connection) -> int:
    pages = database.execute("PRAGMA page_count").fetchone()[0]
    free = database.execute("PRAGMA freelist_count").fetchone()[0]
    page = database.execute("PRAGMA page_size").fetchone()[0]
    return int((pages - free) * page)


def _remove_oldest(database: sqlite3.Connection, limit: int) -> None:
    """Remove a quarter of the entries, the oldest, until the others are within the limit."""
    while _used(database) > limit:
        count = database.execute("SELECT COUNT(*) FROM vectors").fetchone()[0]
        if count == 0:
            return  # an empty database may still be larger than a very small limit
        oldest = "SELECT number FROM vectors ORDER BY number LIMIT ?"
        statement = f"DELETE FROM vectors WHERE number IN ({oldest})"
        database.execute(statement, (max(1, count // 4),))
