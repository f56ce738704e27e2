"""What was found among a user's images and is not used, counted by reason."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePath

from samovar.data.images.heif import missing_for

ARCHIVES = (".zip", ".tar", ".gz", ".7z", ".rar")
BESIDE = "image beside the class folders"
HIDDEN = "hidden file"
HIDDEN_FOLDER = "hidden folder"
SEARCHED = "link to a folder that was searched already"
UNNAMED = "file without an extension"
NOUNS = ("image", "file", "folder", "archive", "link")
MOST_REASONS = 6
"""The number of reasons that a sentence names."""


@dataclass
class LeftOut:
    """Files that are not used, counted by reason.

    >>> left_out = LeftOut()
    >>> for name in (".DS_Store", "notes.txt", "more.txt", "old.zip"):
    ...     left_out.add_file(PurePath(name))
    >>> str(left_out)
    '2 .txt files, 1 hidden file, 1 .zip archive'
    """

    counts: Counter[str] = field(default_factory=Counter)
    needs: dict[str, str] = field(default_factory=dict)
    """What must be installed before files can be read, by reason."""

    def add(self, reason: str) -> None:
        """Count a file or folder that is left out for a reason."""
        self.counts[reason] += 1

    def add_file(self, path: PurePath) -> None:
        """Count a file that is not used, for the reason that its name tells."""
        suffix = path.suffix.lower()
        missing = missing_for(path)
        if path.name.startswith("."):
            self.add(HIDDEN)
        elif missing is not None:
            self.add(f"{suffix} image")
            self.needs[f"{suffix} image"] = missing
        elif suffix in ARCHIVES:
            self.add(f"{suffix} archive")
        elif suffix:
            self.add(f"{suffix} file")
        else:
            self.add(UNNAMED)

    def include(self, other: "LeftOut") -> None:
        """Count what was left out elsewhere as well."""
        self.counts.update(other.counts)
        self.needs.update(other.needs)

    @property
    def images(self) -> bool:
        """Whether images are among them that could be read after an installation."""
        return bool(self.needs)

    def __bool__(self) -> bool:
        return bool(self.counts)

    def __str__(self) -> str:
        reasons = self.counts.most_common()
        # Images come first: they are what the user will miss.
        reasons.sort(key=lambda item: item[0] not in self.needs)
        parts = [self._counted(reason, count) for reason, count in reasons[:MOST_REASONS]]
        rest = sum(count for _, count in reasons[MOST_REASONS:])
        if rest:
            parts.append(f"{rest} others")
        return ", ".join(parts)

    def _counted(self, reason: str, count: int) -> str:
        text = f"{count} {reason}"
        if count > 1:
            text = f"{count} {_plural(reason)}"
        if reason in self.needs:
            text += f" ({self.needs[reason]})"
        return text


def _plural(reason: str) -> str:
    """Return the plural of a reason, by the first of its words that can be counted.

    >>> _plural("link to a folder that was searched already")
    'links to a folder that was searched already'
    """
    words = reason.split()
    for position, word in enumerate(words):
        if word in NOUNS:
            words[position] = f"{word}s"
            break
    return " ".join(words)
