"""A heap of photos that `samovar sort` is working on: read, answered, and followed as it grows."""

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.heap_sorter import HeapSorter, PlannedPhoto
from samovar.classifier.loading import Fitted
from samovar.classifier.sets import SetRequest, predict_sets
from samovar.cli.named_images import NamedImages, named_images
from samovar.cli.reading import read_files
from samovar.core.filing_manifest import FilingManifest
from samovar.core.interrupts import StopRequests
from samovar.core.text import printable
from samovar.data.images.image_file import ImageFile
from samovar.reporting.terminal import report_left_out, report_skipped

ROUND = 1.0
"""Seconds between two looks at a folder that is watched."""

States = dict[Path, tuple[int, int]]
"""The size and the time of each photo."""


@dataclass
class HeapAtHand:
    """The photos that a user has named, and what was found out about them so far."""

    heap: Sequence[Path]
    sorter: HeapSorter
    fitted: Fitted
    parameters: AnswerParameters
    task: str
    """What errors call the task."""
    recursive: bool = False
    follow_links: bool = False
    cache: bool = True
    sets: SetRequest | None = None
    """The prediction sets that decide whether a photo is unsure, if any do."""
    complaints: list[str] = field(default_factory=list)
    """Sentences about photos that stay where they are."""
    code: int = 0
    """The exit code so far."""
    given_up: States = field(default_factory=dict)
    """Photos that could not be sorted, as they were then; they are tried again when changed."""

    def planned(self, ready: States | None = None) -> list[PlannedPhoto]:
        """Answer the photos that are new, and say where they go; only those that are ready."""
        named = self._named()
        manifest = FilingManifest.read(self.sorter.into)
        paths = [Path(file.name) for file in named.files]
        if ready is not None:
            paths = [path for path in paths if path in ready]
        new = self.sorter.new_photos(paths, manifest)
        self.complaints += new.refused
        if ready is None:
            self.code = max(self.code, report_left_out(named.left_out, named.note))
        files = [ImageFile.at(path) for path in new.paths]
        read = read_files(files, self.fitted.saved, self.task, cache=self.cache)
        self.code = max(self.code, report_skipped(read.unreadable))
        if not read.inputs:
            return []
        answer = self.fitted.answer(read.inputs, self.parameters)
        sets = None
        if self.sets is not None:
            predicted = predict_sets(
                self.fitted, read.inputs, answer.probabilities, self.sets, self.parameters
            )
            sets = predicted.members
        return self.sorter.plan(read.paths, answer, sets)

    def apply(self, planned: Sequence[PlannedPhoto]) -> list[PlannedPhoto]:
        """Sort photos; return those that could not be sorted."""
        failed = self.sorter.apply(planned)
        for photo in failed:
            self.complaints.append(
                f"{photo.image} was left where it is: it has gone, or its place "
                f"{photo.filing.target} was taken meanwhile"
            )
        return failed

    def watched(self, rounds: Iterator[None]) -> Iterator[PlannedPhoto]:
        """Sort photos as they come, looking once in each round; yield those that were sorted.

        A photo is ready when it has not changed since the round before: it may still be written.
        """
        before: States = {}
        for _ in rounds:
            states = self._states()
            ready = {}
            for path, state in states.items():
                if before.get(path) == state and self.given_up.get(path) != state:
                    ready[path] = state
            before = states
            if not ready:
                continue
            planned = self.planned(ready)
            failed = self.apply(planned)
            yield from [photo for photo in planned if photo not in failed]
            # What is still there was sorted by link or copy, or cannot be sorted.
            self.given_up |= ready

    def _states(self) -> States:
        states = {}
        for file in self._named().files:
            path = Path(file.name)
            try:
                state = path.stat()
            except OSError:  # it has gone
                continue
            states[path] = (state.st_size, state.st_mtime_ns)
        return states

    def _named(self) -> NamedImages:
        """Return the photos that are there now: none are left when all were moved."""
        return named_images(
            self.heap,
            recursive=self.recursive,
            follow_links=self.follow_links,
            may_be_empty=True,
        )

    def report(self) -> int:
        """Say on standard error which photos stay where they are; return the exit code."""
        for complaint in dict.fromkeys(self.complaints):
            print(f"samovar: {printable(complaint)}.", file=sys.stderr)
        return 1 if self.complaints else self.code


def seconds(requests: StopRequests) -> Iterator[None]:
    """Yield once a second until the user asks to stop."""
    while requests.number is None:
        yield
        time.sleep(ROUND)
