"""The lines of metrics.jsonl, read one by one: a damaged line costs that line only."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from samovar.core.input_files import check_size, open_input
from samovar.core.stored_json import parse_json
from samovar.errors import DataError, RunError, UnreadableError

LONGEST_LINE = 1_000_000
"""Bytes; a line of ours has a few hundred."""
LARGEST_METRICS = 200_000_000
"""Bytes of the file: the lines of half a million updates."""

Metrics = dict[str, Any]
"""A line: the update, and metrics by name."""


@dataclass(frozen=True)
class StoredMetrics:
    """The lines that could be understood, and the numbers of those that could not."""

    lines: list[Metrics] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    """The lines as they are in the file."""
    damaged: list[int] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> "StoredMetrics":
        """Read a metrics.jsonl; there need not be one yet."""
        stored = cls()
        if not path.exists():
            return stored
        try:
            with open_input(path) as file:
                check_size(os.fstat(file.fileno()).st_size, LARGEST_METRICS, path)
                number = 0
                while text := file.readline(LONGEST_LINE):
                    number += 1
                    stored._add(number, text)
        except (OSError, DataError) as error:
            raise RunError(f"The metrics of this run cannot be read: {error}") from error
        return stored

    def _add(self, number: int, text: bytes) -> None:
        try:
            line = _parse(text)
        except UnreadableError:
            # A process that was killed while writing leaves half a line at the end.
            if text.endswith(b"\n") or len(text) == LONGEST_LINE:
                self.damaged.append(number)
            return
        self.lines.append(line)
        self.texts.append(text.rstrip(b"\n") + b"\n")

    def until(self, update: int) -> bytes:
        """Return the content of a file with the lines up to an update."""
        kept = []
        for line, text in zip(self.lines, self.texts, strict=True):
            if line["update"] <= update:
                kept.append(text)
        return b"".join(kept)

    @property
    def complaints(self) -> list[str]:
        """A message about the damaged lines, if there are any."""
        if not self.damaged:
            return []
        if len(self.damaged) == 1:
            return [f"line {self.damaged[0]} of metrics.jsonl is damaged and was removed"]
        return [
            f"{len(self.damaged)} lines of metrics.jsonl are damaged and were removed; the first "
            f"was line {self.damaged[0]}"
        ]


def _parse(text: bytes) -> Metrics:
    # Metrics of a user's own model may be NaN; they are left out.
    numbers = parse_json(text, dict[str, int | float | None], nan_is_null=True)
    if not isinstance(numbers.get("update"), int):
        raise UnreadableError("it does not say of which update it is")
    return {name: value for name, value in numbers.items() if value is not None}


def read_metrics(path: Path) -> list[Metrics]:
    """Return the lines of a metrics.jsonl, without those that are incomplete or damaged."""
    return StoredMetrics.read(path).lines
